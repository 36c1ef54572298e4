"""Decisions by access control lists, seen by a consumer that reads, or describes, one topic."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import (
    ALL,
    DENY,
    EVERY_USER,
    PREFIXED,
    WILDCARD,
    Binding,
    bound,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.permissions.forms import code_of
from suites.protocol.support.permissions.scene import scene_of
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import require_authorizer
from suites.protocol.support.seen_address import seen_address

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FREE = {"allow.everyone.if.no.acl.found": "true"}
IMPLYING = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
ELSEWHERE = "192.0.2.1"
"""An address of no host (RFC 5737)."""


@judges("ACL-004")
def test_a_denial_wins_whatever_the_patterns_are(broker: BrokerUnderTest) -> None:
    """Each pattern allows alone; each denies what all of them allow."""
    require_authorizer(broker)
    version = broker.version("Fetch", "4-12")
    with scene_of(broker) as scene:
        topic, principal = scene.topic.name, scene.user.principal
        yes = Binding(topic, principal)
        prefix = yes._replace(name=topic[:-1], pattern=PREFIXED)
        every = yes._replace(name=WILDCARD)
        patterns = {"literal": yes, "prefixed": prefix, "wildcard": every}
        cases: dict[str, tuple[Sequence[Binding], bool]] = {
            f"{name} alone": ([each], True) for name, each in patterns.items()
        }
        cases["a longer prefix"] = ([prefix._replace(name=f"{topic}-more")], False)
        cases["a shorter literal name"] = ([yes._replace(name=topic[:-1])], False)
        for name, each in patterns.items():
            no = each._replace(permission=DENY)
            cases[f"{name} denial"] = ([yes, prefix, every, no], False)
        cases["denial of everything"] = ([yes, yes._replace(permission=DENY, operation=ALL)], False)
        cases["denial of another operation"] = (
            [yes, yes._replace(permission=DENY, operation=Operation.WRITE)],
            True,
        )
        cases |= _denials_of_others(yes)
        with requirement("ACL-004") as check:
            for name, (bindings, allowed) in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expected = ErrorCode.NONE if allowed else REFUSED
                    expect_error(code_of(scene, "Fetch", version), expected, name)


def _denials_of_others(yes: Binding) -> dict[str, tuple[Sequence[Binding], bool]]:
    """Cases of prefixes of two lengths, of every user, and of a group with the topic's name."""
    long = yes._replace(name=yes.name[:-1], pattern=PREFIXED)
    short, more = long._replace(name=yes.name[:-2]), long._replace(name=f"{yes.name}-more")
    everyone = yes._replace(principal=EVERY_USER)
    group = yes._replace(resource=Resource.GROUP)
    pairs = {
        "a shorter prefix denied": (long, short, False),
        "a longer prefix denied": (short, long, False),
        "a prefix of other names denied": (yes, more, True),
        "every user denied": (yes, everyone, False),
        "one of every user denied": (everyone, yes, False),
        "a group of that name denied": (yes, group, True),
    }
    return {
        name: ([given, taken._replace(permission=DENY)], allowed)
        for name, (given, taken, allowed) in pairs.items()
    }


def _found(user: Principal, key: str, key_type: int, version: int) -> int:
    """Return the error code of FindCoordinator, which needs DESCRIBE."""
    return user.ask(FindCoordinatorRequest(key=key, key_type=key_type), version).error_code


@judges("ACL-004")
def test_patterns_combine_for_groups_and_transactional_ids(broker: BrokerUnderTest) -> None:
    """As for topics; an entry of a topic with the same name allows nothing."""
    require_authorizer(broker)
    name, version = broker.unique_group(), broker.version("FindCoordinator", "1-3")
    kinds = (
        (0, Resource.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (1, Resource.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    )
    with ordinary_user(broker) as user, requirement("ACL-004") as check:
        for key_type, resource, refused in kinds:
            yes = Binding(name, user.principal, Operation.DESCRIBE, resource=resource)
            prefix = yes._replace(name=name[:-1], pattern=PREFIXED)
            every, no = yes._replace(name=WILDCARD), yes._replace(permission=DENY)
            cases: dict[str, tuple[Sequence[Binding], bool]] = {
                "a topic": ([yes._replace(resource=Resource.TOPIC)], False),
                "literal": ([yes], True),
                "prefixed": ([prefix], True),
                "wildcard": ([every], True),
                "literal denied": ([prefix, every, no], False),
                "prefixed denied": ([yes, prefix._replace(permission=DENY)], False),
            }
            for case, (bindings, allowed) in cases.items():
                where = f"{resource.name}, {case}"
                with check.subtest(where), bound(broker, *bindings):
                    code = _found(user, name, key_type, version)
                    is_right = code != refused if allowed else code == refused
                    assert is_right, f"{where}: error is {ErrorCode.describe(code)}"


@judges("ACL-005")
def test_without_a_matching_entry_a_user_may_nothing(broker: BrokerUnderTest) -> None:
    require_authorizer(broker)
    version = broker.version("ListOffsets", "1-7")
    with scene_of(broker) as scene:
        topic, principal = scene.topic.name, scene.user.principal
        with requirement("ACL-005") as check:
            mine = Binding(topic, principal)
            cases = {
                "no entry": [],
                "an entry of another user": [mine._replace(principal=f"{principal}-other")],
                "an entry of another topic": [mine._replace(name=f"{topic}-other")],
                "an entry of another operation": [mine._replace(operation=Operation.CREATE)],
            }
            for name, bindings in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expect_error(code_of(scene, "ListOffsets", version), REFUSED, name)
            with check.subtest("the entry"), bound(broker, mine):
                expect_error(code_of(scene, "ListOffsets", version), ErrorCode.NONE, "the entry")


@judges("ACL-005")
@needs_broker(Use.TUNED, FREE)
def test_a_topic_without_entries_is_free_where_the_setting_says_so(broker: BrokerUnderTest) -> None:
    """An entry of another user, or a prefix of the name, ends that; another topic's does not."""
    require_authorizer(broker)
    version = broker.version("ListOffsets", "1-7")
    with scene_of(broker) as scene:
        topic, principal = scene.topic.name, scene.user.principal
        with requirement("ACL-005") as check:
            other = Binding(topic, f"{principal}-other")
            cases = {
                "no entry": ([], True),
                "an entry of another topic": ([other._replace(name=f"{topic}-other")], True),
                "an entry of another user": ([other], False),
                "a prefix of another user": (
                    [other._replace(name=topic[:-1], pattern=PREFIXED)],
                    False,
                ),
            }
            for name, (bindings, allowed) in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expected = ErrorCode.NONE if allowed else REFUSED
                    expect_error(code_of(scene, "ListOffsets", version), expected, name)


@judges("ACL-011")
def test_permissions_imply_the_describing_operations(broker: BrokerUnderTest) -> None:
    """A denial implies nothing."""
    require_authorizer(broker)
    version = broker.version("ListOffsets", "1-7")
    configs = broker.version("DescribeConfigs")
    with scene_of(broker) as scene:
        topic, principal = scene.topic.name, scene.user.principal
        with requirement("ACL-011") as check:
            mine = Binding(topic, principal)
            for operation in Operation:
                given = mine._replace(operation=operation)
                if operation > Operation.ALTER_CONFIGS:
                    continue
                with check.subtest(operation.name), bound(broker, given):
                    implies = operation in {Operation.DESCRIBE, *IMPLYING}
                    expected = ErrorCode.NONE if implies else REFUSED
                    found = code_of(scene, "ListOffsets", version)
                    expect_error(found, expected, f"{operation.name}: ListOffsets")
                    implies = operation in {Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS}
                    expected = ErrorCode.NONE if implies else REFUSED
                    found = code_of(scene, "DescribeConfigs", configs)
                    expect_error(found, expected, f"{operation.name}: DescribeConfigs")
            every = mine._replace(operation=ALL)
            for operation in IMPLYING:
                no = mine._replace(operation=operation, permission=DENY)
                with check.subtest(f"{operation.name} denied"), bound(broker, every, no):
                    found = code_of(scene, "ListOffsets", version)
                    expect_error(found, ErrorCode.NONE, f"{operation.name} denied: ListOffsets")
            no = mine._replace(operation=Operation.ALTER_CONFIGS, permission=DENY)
            with check.subtest("ALTER_CONFIGS denied"), bound(broker, every, no):
                found = code_of(scene, "DescribeConfigs", configs)
                expect_error(found, ErrorCode.NONE, "ALTER_CONFIGS denied: DescribeConfigs")
            no = mine._replace(operation=Operation.DESCRIBE, permission=DENY)
            with check.subtest("DESCRIBE denied"), bound(broker, every, no):
                expect_error(
                    code_of(scene, "ListOffsets", version), REFUSED, "DESCRIBE denied: ListOffsets"
                )


@judges("ACL-015")
def test_an_entry_is_for_its_host(broker: BrokerUnderTest) -> None:
    require_authorizer(broker)
    version, address = broker.version("Fetch", "4-12"), seen_address(broker)
    with scene_of(broker) as scene:
        topic, principal = scene.topic.name, scene.user.principal
        with requirement("ACL-015") as check:
            mine = Binding(topic, principal)
            here, elsewhere = (mine._replace(host=host) for host in (address, ELSEWHERE))
            cases = {
                "this host": ([here], True),
                "another host": ([elsewhere], False),
                "this host denied": ([mine, here._replace(permission=DENY)], False),
                "another host denied": ([mine, elsewhere._replace(permission=DENY)], True),
                "every host denied": ([here, mine._replace(permission=DENY)], False),
            }
            for name, (bindings, allowed) in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expected = ErrorCode.NONE if allowed else REFUSED
                    expect_error(code_of(scene, "Fetch", version), expected, name)
