"""Delegation tokens: those that a user sees, and tokens for other owners."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.credentials import Credentials
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import PASSWORD, ordinary_user
from suites.protocol.support.rights import Right, give, require_authorizer, take_all
from suites.protocol.support.tokens import (
    FIRST_WITH_OWNER,
    REMOVE,
    USER,
    Created,
    Described,
    creation,
    described,
    entered_by,
    expired,
    require_tokens,
    token_of,
)

UNKNOWN = "-none"
USERS_ARE_RESOURCES = 3
"""The version of CreateAcls from which on (KIP-373)."""


def _expect_equal(found: Described, token: Created, renewers: list[str], version: int) -> None:
    """A described token has all that its creation returned."""
    assert bytes(found.hmac) == bytes(token.hmac), "the hmac is another"
    times = (found.issue_timestamp, found.expiry_timestamp, found.max_timestamp)
    made = (token.issue_timestamp_ms, token.expiry_timestamp_ms, token.max_timestamp_ms)
    assert times == made, f"the times are {times}, at the creation {made}"
    owner = (found.principal_type, found.principal_name)
    assert owner == (USER, token.principal_name), f"the owner is {owner}"
    named = [(each.principal_type, each.principal_name) for each in found.renewers]
    assert named == [(USER, name) for name in renewers], f"the renewers are {named}"
    if version >= FIRST_WITH_OWNER:
        requester = (found.token_requester_principal_type, found.token_requester_principal_name)
        assert requester == (USER, token.token_requester_principal_name), f"{requester} asked"


@judges("DTOK-008")
@at_versions("DescribeDelegationToken")
def test_a_user_sees_its_own_tokens_and_those_that_it_may_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Owned, or to renew; others by a right on the token, or on its owner."""
    require_tokens(broker)
    require_authorizer(broker)
    version = api_version
    with (
        requirement("DTOK-008") as check,
        ordinary_user(broker) as first,
        ordinary_user(broker) as second,
        token_of(broker, first) as own,
        token_of(broker, second, renewers=[first]) as shared,
        token_of(broker, second) as foreign,
    ):
        mine, both = {own.token_id, shared.token_id}, {shared.token_id, foreign.token_id}
        for what, owners, expected in (
            ("of all", None, mine),
            ("of no user", [], set()),
            ("its own", [first.name], mine),
            ("of the other", [second.name], {shared.token_id}),
            ("of both", [second.name, first.name], mine),
            ("of an unknown user", [f"{first.name}{UNKNOWN}"], set()),
        ):
            with check.subtest(what):
                found = set(described(first, version, owners))
                assert found == expected, f"{what}: {len(found)} tokens, expected {len(expected)}"
        with check.subtest("the owner"):
            found = set(described(second, version))
            assert found == both, f"the owner of two sees {len(found)}"
        with check.subtest("the fields"):
            seen = described(first, version)
            _expect_equal(seen[own.token_id], own, [], version)
            _expect_equal(seen[shared.token_id], shared, [first.name], version)
        rights = [Right(Operation.DESCRIBE, Resource.DELEGATION_TOKEN, foreign.token_id)]
        if broker.advertised("CreateAcls").highest >= USERS_ARE_RESOURCES:
            rights += [Right(Operation.DESCRIBE_TOKENS, Resource.USER, second.principal)]
        for right in rights:
            with check.subtest(right.operation.name):
                give(broker, first.principal, [right])
                found = set(described(first, version))
                assert found == mine | both, f"by {right.operation.name}: {len(found)} tokens"
                take_all(broker, first.principal)
                assert set(described(first, version)) == mine, "the right is gone, the token not"


@judges("DTOK-014")
@at_versions("CreateDelegationToken", "3+")
def test_a_token_for_another_owner_needs_a_right_to_that_user(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A right to another user is not enough; the token is the owner's, and names the requester."""
    credentials = require_tokens(broker)
    require_authorizer(broker)
    version = api_version
    with (
        requirement("DTOK-014") as check,
        ordinary_user(broker) as requester,
        ordinary_user(broker) as owner,
    ):
        asked = creation(version, owner=owner.name)
        refused = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
        for what, rights in {
            "no right": [],
            "another user": [Right(Operation.CREATE_TOKENS, Resource.USER, requester.principal)],
            "another operation": [Right(Operation.DESCRIBE_TOKENS, Resource.USER, owner.principal)],
        }.items():
            with check.subtest(what):
                give(broker, requester.principal, rights)
                answer = requester.ask(asked, version)
                expect_error(answer.error_code, refused, what)
                assert bytes(answer.hmac) == b"", f"{what}: the answer has an hmac"
        right = Right(Operation.CREATE_TOKENS, Resource.USER, owner.principal)
        give(broker, requester.principal, [right])
        token = requester.ask(asked, version)
        expect_error(token.error_code, ErrorCode.NONE, "with the right")
        listing = broker.version("DescribeDelegationToken")
        broker.eventually(lambda: described(owner, listing), "the owner sees the token")
        found = described(owner, listing)[token.token_id]
        names = (found.principal_name, found.token_requester_principal_name)
        assert names == (owner.name, requester.name), f"owner and requester are {names}"
        own = credentials.of_token(token.token_id, bytes(token.hmac))
        expect_error(entered_by(broker, own)[0], ErrorCode.NONE, "by the token")
        change = broker.version("ExpireDelegationToken")
        code, _ = expired(requester, bytes(token.hmac), REMOVE, change)
        mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        expect_error(code, mismatch, "a removal by the requester")
        code, _ = expired(owner, bytes(token.hmac), REMOVE, change)
        expect_error(code, ErrorCode.NONE, "a removal by the owner")


def _enters(broker: BrokerUnderTest, credentials: Credentials) -> bool:
    return entered_by(broker, credentials)[0] == ErrorCode.NONE


@judges("DTOK-015")
@needs_broker(Use.PERSISTENT)
def test_tokens_survive_restarts(persistent_broker: PersistentBroker) -> None:
    """A token that was removed before stays away."""
    broker = persistent_broker.client
    credentials = require_tokens(broker)
    version = broker.version("DescribeDelegationToken")
    with requirement("DTOK-015") as check, ordinary_user(broker) as owner:
        with token_of(broker, owner) as gone:
            pass
        asked = broker.version("CreateDelegationToken")
        token = owner.ask(creation(asked, [(USER, "a-renewer")]), asked)
        broker.eventually(lambda: token.token_id in described(owner, version), "it is known")
        for name, ends in (
            ("in order", persistent_broker.stop),
            ("by SIGKILL", persistent_broker.kill),
        ):
            ends()
            persistent_broker.start()
            with check.subtest(f"after an end {name}"):
                own = credentials.of_token(token.token_id, bytes(token.hmac))
                broker.eventually(
                    partial(_enters, broker, own), f"after an end {name} the token enters"
                )
                lost = credentials.of_token(gone.token_id, bytes(gone.hmac))
                code, _, _ = entered_by(broker, lost)
                expect_error(code, ErrorCode.SASL_AUTHENTICATION_FAILED, "a removed token")
                code, _, again = entered_by(broker, credentials.of(owner.name, PASSWORD))
                expect_error(code, ErrorCode.NONE, "the owner by its password")
                found = described(again, version)
                assert set(found) == {token.token_id}, f"after an end {name}: {len(found)} tokens"
                _expect_equal(found[token.token_id], token, ["a-renewer"], version)
