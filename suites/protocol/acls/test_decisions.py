"""Decisions by access control lists, seen by a consumer that reads, or describes, one topic."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest, FetchRequest, ListOffsetsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import ALL, DENY, PREFIXED, WILDCARD, Binding, bound
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import require_authorizer

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FREE = {"allow.everyone.if.no.acl.found": "true"}
IMPLYING = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
ELSEWHERE = "192.0.2.1"
"""An address of no host (RFC 5737)."""
TOPIC_CONFIGS = 2


def fetched(user: Principal, topic: str, version: int) -> int:
    """Return the error code of a fetch, which needs READ."""
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1024)
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1024,
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=[partition])],
    )
    return user.ask(request, version).responses[0].partitions[0].error_code


def described(user: Principal, topic: str, version: int) -> int:
    """Return the error code of ListOffsets, which needs DESCRIBE."""
    made = ListOffsetsRequest
    partition = made.ListOffsetsPartition(partition_index=0, timestamp=-1, max_num_offsets=1)
    request = made(
        replica_id=-1, topics=[made.ListOffsetsTopic(name=topic, partitions=[partition])]
    )
    return user.ask(request, version).topics[0].partitions[0].error_code


def configs_described(user: Principal, topic: str, version: int) -> int:
    """Return the error code of DescribeConfigs, which needs DESCRIBE_CONFIGS."""
    made = DescribeConfigsRequest
    resource = made.DescribeConfigsResource(
        resource_type=TOPIC_CONFIGS, resource_name=topic, configuration_keys=["retention.ms"]
    )
    return user.ask(made(resources=[resource]), version).results[0].error_code


@judges("ACL-004")
def test_a_denial_wins_whatever_the_patterns_are(broker: BrokerUnderTest) -> None:
    """Each pattern allows alone; each denies what all of them allow."""
    require_authorizer(broker)
    topic, version = broker.create_topic().name, broker.version("Fetch", "4-12")
    with ordinary_user(broker) as user:
        yes = Binding(topic, user.principal)
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
        with requirement("ACL-004") as check:
            for name, (bindings, allowed) in cases.items():
                with check.subtest(name), bound(broker, *bindings):
                    expected = ErrorCode.NONE if allowed else REFUSED
                    expect_error(fetched(user, topic, version), expected, name)


@judges("ACL-005")
def test_without_a_matching_entry_a_user_may_nothing(broker: BrokerUnderTest) -> None:
    require_authorizer(broker)
    topic, version = broker.create_topic().name, broker.version("ListOffsets", "1-7")
    with ordinary_user(broker) as user, requirement("ACL-005") as check:
        mine = Binding(topic, user.principal)
        cases = {
            "no entry": [],
            "an entry of another user": [mine._replace(principal=f"{user.principal}-other")],
            "an entry of another topic": [mine._replace(name=f"{topic}-other")],
            "an entry of another operation": [mine._replace(operation=Operation.CREATE)],
        }
        for name, bindings in cases.items():
            with check.subtest(name), bound(broker, *bindings):
                expect_error(described(user, topic, version), REFUSED, name)
        with check.subtest("the entry"), bound(broker, mine):
            expect_error(described(user, topic, version), ErrorCode.NONE, "the entry")


@judges("ACL-005")
@needs_broker(Use.TUNED, FREE)
def test_a_topic_without_entries_is_free_where_the_setting_says_so(broker: BrokerUnderTest) -> None:
    """An entry of another user, or a prefix of the name, ends that; another topic's does not."""
    require_authorizer(broker)
    topic, version = broker.create_topic().name, broker.version("ListOffsets", "1-7")
    with ordinary_user(broker) as user, requirement("ACL-005") as check:
        other = Binding(topic, f"{user.principal}-other")
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
                expect_error(described(user, topic, version), expected, name)


@judges("ACL-011")
def test_permissions_imply_the_describing_operations(broker: BrokerUnderTest) -> None:
    """A denial implies nothing."""
    require_authorizer(broker)
    topic, version = broker.create_topic().name, broker.version("ListOffsets", "1-7")
    configs = broker.version("DescribeConfigs")
    with ordinary_user(broker) as user, requirement("ACL-011") as check:
        mine = Binding(topic, user.principal)
        for operation in Operation:
            given = mine._replace(operation=operation)
            if operation > Operation.ALTER_CONFIGS:
                continue
            with check.subtest(operation.name), bound(broker, given):
                implies = operation in {Operation.DESCRIBE, *IMPLYING}
                expected = ErrorCode.NONE if implies else REFUSED
                found = described(user, topic, version)
                expect_error(found, expected, f"{operation.name}: ListOffsets")
                implies = operation in {Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS}
                expected = ErrorCode.NONE if implies else REFUSED
                found = configs_described(user, topic, configs)
                expect_error(found, expected, f"{operation.name}: DescribeConfigs")
        every = mine._replace(operation=ALL)
        for operation in IMPLYING:
            no = mine._replace(operation=operation, permission=DENY)
            with check.subtest(f"{operation.name} denied"), bound(broker, every, no):
                found = described(user, topic, version)
                expect_error(found, ErrorCode.NONE, f"{operation.name} denied: ListOffsets")
        no = mine._replace(operation=Operation.DESCRIBE, permission=DENY)
        with check.subtest("DESCRIBE denied"), bound(broker, every, no):
            expect_error(described(user, topic, version), REFUSED, "DESCRIBE denied: ListOffsets")


@judges("ACL-015")
def test_an_entry_is_for_its_host(broker: BrokerUnderTest) -> None:
    require_authorizer(broker)
    topic, version = broker.create_topic().name, broker.version("Fetch", "4-12")
    with ordinary_user(broker) as user, requirement("ACL-015") as check:
        mine = Binding(topic, user.principal)
        here, elsewhere = (mine._replace(host=host) for host in ("127.0.0.1", ELSEWHERE))
        cases = {
            "this host": ([here], True),
            "another host": ([elsewhere], False),
            "this host denied": ([mine, here._replace(permission=DENY)], False),
            "another host denied": ([mine, elsewhere._replace(permission=DENY)], True),
        }
        for name, (bindings, allowed) in cases.items():
            with check.subtest(name), bound(broker, *bindings):
                expected = ErrorCode.NONE if allowed else REFUSED
                expect_error(fetched(user, topic, version), expected, name)
