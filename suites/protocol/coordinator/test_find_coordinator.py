"""COORD: the coordinator of a group or a transactional id."""

from __future__ import annotations

import base64

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import GROUP, TRANSACTION, await_coordinator
from harness.client.only import only
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC

FIND_COORDINATOR = api_named("FindCoordinator")
NO_KEY_TYPES = (9, -1, 127, -128)
SHARE, SHARE_KEYS = 2, 6  # a type of keys from this version on (KIP-932)
KEY_TYPES = pytest.mark.parametrize("key_type", [GROUP, TRANSACTION], ids=["group", "transaction"])
MANY_KEYS = 4  # from this version on a request has several keys (KIP-699)
Coordinator = FindCoordinatorResponse.Coordinator
Node = tuple[int, str, int]


def _ask(
    broker: BrokerUnderTest, version: int, keys: list[str], key_type: int
) -> list[Coordinator]:
    """Return the coordinator of each key, with one request a key before v4."""
    if version >= MANY_KEYS:
        request = FindCoordinatorRequest(coordinator_keys=keys, key_type=key_type)
        return broker.ask(request, version).coordinators
    return [_ask_one(broker, version, key, key_type) for key in keys]


def _ask_one(broker: BrokerUnderTest, version: int, key: str, key_type: int) -> Coordinator:
    answer = broker.ask(FindCoordinatorRequest(key=key, key_type=key_type), version)
    return Coordinator(
        key=key,
        node_id=answer.node_id,
        host=answer.host,
        port=answer.port,
        error_code=answer.error_code,
    )


def _live_nodes(broker: BrokerUnderTest) -> set[Node]:
    return {(node.node_id, node.host, node.port) for node in broker.metadata([]).brokers}


def _node_of(found: Coordinator) -> Node:
    return found.node_id, found.host, found.port


def _has_offsets_topic(broker: BrokerUnderTest) -> bool:
    return OFFSETS_TOPIC in [topic.name for topic in broker.metadata(None).topics]


@judges("COORD-003")
@needs_broker(Use.OWN)
def test_first_find_coordinator_is_unavailable_and_creates_offsets_topic(
    broker: BrokerUnderTest,
) -> None:
    """Without the topic the broker returns COORDINATOR_NOT_AVAILABLE, and soon a coordinator.

    Not applicable if it names a coordinator and creates no topic: then it needs none.
    """
    version = broker.version("FindCoordinator")
    if _has_offsets_topic(broker):
        raise NotApplicable("fresh_cluster", f"{OFFSETS_TOPIC} is there from the beginning")
    group = broker.unique_topic()
    with requirement("COORD-003", api_key=FIND_COORDINATOR.key, api_version=version):
        first = _ask(broker, version, [group], GROUP)[0]
        if _node_of(first) in _live_nodes(broker) and not _has_offsets_topic(broker):
            raise NotApplicable("internal_topics", f"a coordinator and no {OFFSETS_TOPIC}")
        expect_error(first.error_code, ErrorCode.COORDINATOR_NOT_AVAILABLE, where="first")
        broker.eventually(
            lambda: _ask(broker, version, [group], GROUP)[0].error_code == ErrorCode.NONE,
            "a coordinator is named",
        )
        topic = only(broker.metadata([OFFSETS_TOPIC]).topics, "topic")
        expect_error(topic.error_code, ErrorCode.NONE, where=OFFSETS_TOPIC)


@judges("COORD-005")
@at_versions("FindCoordinator", "4+")
@KEY_TYPES
def test_find_coordinator_v4_returns_coordinator_for_each_key(
    broker: BrokerUnderTest, api_version: int, key_type: int
) -> None:
    """Three keys in one request, three coordinators in the answer, each a live broker."""
    keys = [broker.unique_topic() for _ in range(3)]
    await_coordinator(broker, key_type)
    with requirement("COORD-005"):
        _expect_coordinators(broker, _ask(broker, api_version, keys, key_type), keys)


def _expect_coordinators(
    broker: BrokerUnderTest, found: list[Coordinator], keys: list[str]
) -> None:
    named = sorted(one.key for one in found)
    assert named == sorted(keys), f"asked for the keys {keys}, the answer has {named}"
    live = _live_nodes(broker)
    for one in found:
        expect_error(one.error_code, ErrorCode.NONE, where=one.key)
        node = _node_of(one)
        assert node in live, f"{one.key}: {node} is none of the brokers {live}"


@judges("COORD-005")
@at_versions("FindCoordinator", "1-3")
@KEY_TYPES
def test_find_coordinator_v1_to_v3_returns_coordinator_for_key_type(
    broker: BrokerUnderTest, api_version: int, key_type: int
) -> None:
    """Before v4 a request has one key; its type stands beside it."""
    await_coordinator(broker, key_type)
    keys = [broker.unique_topic()]
    with requirement("COORD-005"):
        _expect_coordinators(broker, _ask(broker, api_version, keys, key_type), keys)


@judges("COORD-005")
@at_versions("FindCoordinator", "1+")
def test_find_coordinator_with_unknown_key_type_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Every key of the request has the error INVALID_REQUEST, with a type above and below.

    Share keys have a type from a later version on; before, well-formed ones have no type either.
    """
    plain = [broker.unique_topic() for _ in range(3)]
    keys_by_type = dict.fromkeys(NO_KEY_TYPES, plain)
    if api_version < SHARE_KEYS:
        keys_by_type[SHARE] = [_share_key(broker, str(partition)) for partition in range(3)]
    with requirement("COORD-005") as check:
        for key_type, keys in keys_by_type.items():
            with check.subtest(f"type {key_type}"):
                found = _ask(broker, api_version, keys, key_type)
                named = sorted(one.key for one in found)
                assert named == sorted(keys), f"asked for the keys {keys}, the answer has {named}"
                for one in found:
                    expect_error(one.error_code, ErrorCode.INVALID_REQUEST, where=one.key)


@judges("COORD-005")
@at_versions("FindCoordinator", "6+")
def test_ill_formed_share_key_has_error_of_its_own(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Good share keys before, between and behind bad ones. Not applicable without share groups."""
    good = [_share_key(broker, str(partition)) for partition in range(3)]
    group, rest = _share_key(broker, "0").split(":", 1)
    bad = ["no-share-key", "group:not an id:0", _share_key(broker, "x"), f":{rest}", f"{group}:0"]
    code = broker.last_seen(
        lambda: _ask(broker, api_version, good[:1], SHARE)[0].error_code,
        lambda code: code == ErrorCode.NONE,
    )
    if code != ErrorCode.NONE:
        raise NotApplicable("share_groups", f"a good share key: {ErrorCode.describe(code)}")
    keys = [good[0], bad[0], good[1], *bad[1:], good[2]]
    with requirement("COORD-005") as check:
        found = {one.key: one.error_code for one in _ask(broker, api_version, keys, SHARE)}
        assert sorted(found) == sorted(keys), f"asked for the keys {keys}, the answer has {found}"
        for number, key in enumerate(keys):
            with check.subtest(f"key {number}"):
                code = found[key]
                told = f"{key}: {ErrorCode.describe(code)}"
                assert (code == ErrorCode.INVALID_REQUEST) == (key in bad), told


def _share_key(broker: BrokerUnderTest, partition: str) -> str:
    """Group, topic id in base64 of urls, and partition."""
    drawn = broker.random.getrandbits(128).to_bytes(16, "big")
    topic_id = base64.urlsafe_b64encode(drawn).decode().rstrip("=")
    return f"{broker.unique_topic()}:{topic_id}:{partition}"
