"""SASL: users of SCRAM that are added, described and removed by requests (KIP-554)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.credentials import scram_password
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    enter,
    expect_refused,
    expect_served,
    shake_hands,
    unauthenticated,
)

MECHANISM, NUMBER = "SCRAM-SHA-256", 1
PASSWORD = "of-a-test"
SALT = b"salt of a test"
LEAST, MOST = 4096, 16384
OTHER_NUMBER = 2
Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
Described = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult


def added(
    user: str, number: int = NUMBER, iterations: int = LEAST, password: str = PASSWORD
) -> Upsertion:
    salted = scram_password(MECHANISM, password, SALT, max(iterations, 1))
    return Upsertion(
        name=user, mechanism=number, iterations=iterations, salt=SALT, salted_password=salted
    )


def alter(
    broker: BrokerUnderTest,
    version: int,
    upsertions: Sequence[Upsertion] = (),
    deletions: Sequence[Deletion] = (),
) -> dict[str, int]:
    """Return the error code of each user."""
    answer = broker.ask(
        AlterUserScramCredentialsRequest(deletions=list(deletions), upsertions=list(upsertions)),
        version,
    )
    return {one.user: one.error_code for one in answer.results}


def describe(
    broker: BrokerUnderTest, version: int, names: Sequence[str] | None
) -> dict[str, Described]:
    name = DescribeUserScramCredentialsRequest.UserName
    users = None if names is None else [name(name=each) for each in names]
    answer = broker.ask(DescribeUserScramCredentialsRequest(users=users), version)
    expect_error(answer.error_code, ErrorCode.NONE, "DescribeUserScramCredentials")
    return {one.user: one for one in answer.results}


@judges("SASL-012")
@at_versions("AlterUserScramCredentials")
def test_a_user_enters_from_its_addition_to_its_removal(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With a new password after a change; the description has mechanism and iterations."""
    credentials = credentials_of(broker, MECHANISM)
    user = broker.unique_topic()
    authenticate = broker.version("SaslAuthenticate")

    def enters(password: str) -> bool:
        connection = unauthenticated(broker)
        shake_hands(connection, MECHANISM)
        answer = enter(connection, credentials.of(user, password), MECHANISM, authenticate)
        if answer.error_code == ErrorCode.NONE:
            expect_served(broker, connection)
            return True
        expect_refused(connection, answer, user)
        return False

    with requirement("SASL-012"):
        assert not enters(PASSWORD), "an unknown user enters"
        assert alter(broker, api_version, [added(user)]) == {user: ErrorCode.NONE}
        broker.eventually(lambda: enters(PASSWORD), "the new user enters")
        assert not enters("another"), "a wrong password enters"
        (info,) = describe(broker, 0, [user])[user].credential_infos
        assert (info.mechanism, info.iterations) == (NUMBER, LEAST)
        alter(broker, api_version, [added(user, iterations=LEAST + 1, password="new")])
        broker.eventually(lambda: enters("new"), "the user enters by the new password")
        assert not enters(PASSWORD), "the old password enters"
        (info,) = describe(broker, 0, [user])[user].credential_infos
        assert info.iterations == LEAST + 1, f"{info.iterations} iterations are described"
        gone = Deletion(name=user, mechanism=NUMBER)
        assert alter(broker, api_version, (), [gone]) == {user: ErrorCode.NONE}
        broker.eventually(lambda: not enters("new"), "the removed user does not enter")
        code = describe(broker, 0, [user])[user].error_code
        expect_error(code, ErrorCode.RESOURCE_NOT_FOUND, "the removed user")


@judges("SASL-013")
@at_versions("AlterUserScramCredentials")
def test_wrong_changes_of_users_get_their_errors(broker: BrokerUnderTest, api_version: int) -> None:
    """A right change beside a wrong one of another user happens."""
    credentials_of(broker)
    user, other = broker.unique_topic(), broker.unique_topic()
    unacceptable = ErrorCode.UNACCEPTABLE_CREDENTIAL
    cases = {
        "too few iterations": ([added(user, iterations=LEAST - 1)], [], unacceptable),
        "too many iterations": ([added(user, iterations=MOST + 1)], [], unacceptable),
        "an unknown mechanism": ([added(user, 9)], [], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        "no mechanism": ([added(user, 0)], [], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        "a removal of nothing": (
            [],
            [Deletion(name=user, mechanism=NUMBER)],
            ErrorCode.RESOURCE_NOT_FOUND,
        ),
        "added twice": ([added(user), added(user)], [], ErrorCode.DUPLICATE_RESOURCE),
    }
    with requirement("SASL-013") as check:
        for name, (upsertions, deletions, error) in cases.items():
            with check.subtest(name):
                found = alter(broker, api_version, upsertions, deletions)
                assert list(found) == [user], f"{name}: the results are of {list(found)}"
                expect_error(found[user], error, name)
                code = describe(broker, 0, [user])[user].error_code
                expect_error(code, ErrorCode.RESOURCE_NOT_FOUND, f"{name}: the user")
        with check.subtest("an empty name"):
            found = alter(broker, api_version, [added("")])
            expect_error(found[""], unacceptable, "an empty name")
        for iterations in (LEAST, MOST):
            with check.subtest(f"{iterations} iterations beside a wrong change"):
                right = added(other, iterations=iterations)
                found = alter(broker, api_version, [right, added(user, 9)])
                expect_error(found[other], ErrorCode.NONE, "the right change")
                expect_error(found[user], ErrorCode.UNSUPPORTED_SASL_MECHANISM, "the wrong one")
        alter(broker, api_version, (), [Deletion(name=other, mechanism=NUMBER)])


@judges("SASL-014")
@at_versions("DescribeUserScramCredentials")
def test_users_are_described_once_each(broker: BrokerUnderTest, api_version: int) -> None:
    """Named, unknown, named twice, and all by a null and by an empty list."""
    credentials_of(broker)
    user, unknown = broker.unique_topic(), broker.unique_topic()
    alter(broker, 0, [added(user)])
    alter(broker, 0, [added(user, 2, LEAST + 2)])
    try:
        with requirement("SASL-014") as check:
            with check.subtest("named"):
                found = describe(broker, api_version, [user, unknown])
                infos = found[user].credential_infos
                pairs = sorted((one.mechanism, one.iterations) for one in infos)
                assert pairs == [(1, LEAST), (2, LEAST + 2)]
                code = found[unknown].error_code
                expect_error(code, ErrorCode.RESOURCE_NOT_FOUND, "unknown")
                assert found[unknown].credential_infos == []
            with check.subtest("twice"):
                found = describe(broker, api_version, [user, user])
                expect_error(found[user].error_code, ErrorCode.DUPLICATE_RESOURCE, "twice")
                assert found[user].credential_infos == []
            for everything in (None, ()):
                with check.subtest(f"{everything!r}"):
                    found = describe(broker, api_version, everything)
                    assert user in found, "the list of all users lacks one"
                    assert unknown not in found
    finally:
        for number in (1, 2):
            alter(broker, 0, (), [Deletion(name=user, mechanism=number)])


@judges("SASL-013")
@at_versions("AlterUserScramCredentials")
def test_wrong_changes_of_a_known_user_leave_its_credentials(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A removal of a mechanism that it has not, and an addition with a removal of its own one."""
    credentials_of(broker)
    user = broker.unique_topic()
    first, second = (Deletion(name=user, mechanism=number) for number in (NUMBER, OTHER_NUMBER))
    alter(broker, 0, [added(user)])
    cases: dict[str, tuple[list[Upsertion], Deletion, ErrorCode]] = {
        "a removal of the other mechanism": ([], second, ErrorCode.RESOURCE_NOT_FOUND),
        "changed and removed": (
            [added(user, iterations=MOST)],
            first,
            ErrorCode.DUPLICATE_RESOURCE,
        ),
    }
    with requirement("SASL-013") as check:
        for name, (upsertions, deletion, error) in cases.items():
            with check.subtest(name):
                found = alter(broker, api_version, upsertions, [deletion])
                assert list(found) == [user], f"{name}: the results are of {list(found)}"
                expect_error(found[user], error, name)
                assert _mechanisms(broker, user) == [(NUMBER, LEAST)], name
    alter(broker, 0, (), [first])


@judges("SASL-012")
@at_versions("AlterUserScramCredentials")
def test_a_removed_mechanism_leaves_the_other_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The user is described with what is left."""
    credentials_of(broker)
    user = broker.unique_topic()
    first, second = (Deletion(name=user, mechanism=number) for number in (NUMBER, OTHER_NUMBER))
    alter(broker, 0, [added(user)])
    alter(broker, 0, [added(user, OTHER_NUMBER, MOST)])
    with requirement("SASL-012"):
        expect_error(alter(broker, api_version, (), [first])[user], ErrorCode.NONE, "the removal")
        left = broker.last_seen(lambda: _mechanisms(broker, user), [(OTHER_NUMBER, MOST)].__eq__)
        assert left == [(OTHER_NUMBER, MOST)], f"of two mechanisms {left} are left"
    alter(broker, 0, (), [second])


def _mechanisms(broker: BrokerUnderTest, user: str) -> list[tuple[int, int]]:
    """Return mechanism and iterations of each credential of the user."""
    infos = describe(broker, 0, [user])[user].credential_infos
    return sorted((info.mechanism, info.iterations) for info in infos)
