"""Conversations across restarts with a right broker, and with one behind a relay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from harness.base.address import Address
from harness.client.placeholder_versions import served_ranges
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import ListOffsetsResponse
from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.differential.generator import Ranges, shared_versions
from harness.differential.player import Player
from harness.oracle.kept_specification import KeptSpecification
from harness.oracle.parted_conversation import PartedConversation, ends_like
from harness.oracle.restart_requests import parted_conversations
from harness.oracle.restarted import (
    RestartDifference,
    RestartedConversations,
    RestartedSide,
    text_of_restart,
)
from harness.proxies import FrameRule, RunningRelay, SeenRequest
from harness.targets.asking import ask_api_versions
from harness.targets.reference import QUICK

TIMEOUT_MS = 5_000
SPECS = ("reference", "wrong")
EVERY = {
    "CreateTopics": VersionRange(2, 7),
    "Produce": VersionRange(3, 12),
    "ListOffsets": VersionRange(1, 9),
    "OffsetCommit": VersionRange(2, 9),
    "DeleteRecords": VersionRange(0, 2),
}


class EpochOfLeader(FrameRule):
    """ListOffsets responses change the leader epoch."""

    def __init__(self, *, is_first: bool) -> None:
        self.is_first = is_first

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "ListOffsets":
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, ListOffsetsResponse)
        for topic in message.topics:
            for one in topic.partitions:
                one.leader_epoch = min(one.leader_epoch, 0) if self.is_first else 77
        return [encode_response(message, seen.version, correlation_id)]


class FirstJoinWithoutResponse(FrameRule):
    """The response of the first JoinGroup is lost."""

    def __init__(self) -> None:
        self.lost = 0

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "JoinGroup" or self.lost:
            return [payload]
        self.lost += 1
        return []


LIKE = ""
NEW = {"name": "$name-a", "num_partitions": 1, "replication_factor": 1}
JOIN = {
    "group_id": "$name-g",
    "session_timeout_ms": 10_000,
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": ""}],
}
LATEST = {"name": "$name-a", "partitions": [{"partition_index": 0, "timestamp": -1}]}
EARLY = PartedConversation(
    "made",
    (
        (
            ConversationStep("CreateTopics", 2, {"topics": [NEW], "timeout_ms": 30_000}),
            ConversationStep("ListOffsets", 4, {"replica_id": -1, "topics": [LATEST]}),
        ),
        (ConversationStep("ListGroups", 0, {}),),
    ),
    ends_like(LIKE)[:1],
)

JOINED = PartedConversation(
    "made",
    ((ConversationStep("JoinGroup", 0, JOIN),), (ConversationStep("ListGroups", 0, {}),)),
    ends_like(LIKE)[:1],
)


def _first_difference(
    rule: FrameRule, conversations: Sequence[PartedConversation] = ()
) -> RestartDifference | None:
    with (
        KeptSpecification("", QUICK) as right,
        KeptSpecification("", QUICK) as broker,
        RunningRelay(broker.address, rule) as relay,
        _beside(right, broker, Address(*relay.address)) as (made, shared),
    ):
        drawn = conversations or parted_conversations(1, shared, 3, LIKE)
        return made.first_difference(drawn)


@contextmanager
def _beside(
    right: KeptSpecification, broker: KeptSpecification, address: Address
) -> Iterator[tuple[RestartedConversations, Ranges]]:
    pairs = ask_api_versions(right.address, TIMEOUT_MS)
    served = served_ranges({key: VersionRange(*pair) for key, pair in pairs.items()})
    sides = (
        RestartedSide(Player(SPECS[0], right.address, served, TIMEOUT_MS, "kc-r"), right),
        RestartedSide(Player(SPECS[1], address, served, TIMEOUT_MS, "kc-r"), broker),
    )
    with RestartedConversations(sides, "kc-r") as made:
        yield made, shared_versions(served, served)


@pytest.mark.rotates(8)
def test_right_broker_has_no_difference() -> None:
    assert _first_difference(FrameRule()) is None


@pytest.mark.rotates(8)
def test_difference_after_restart_is_shrunk() -> None:
    found = _first_difference(EpochOfLeader(is_first=True))
    assert found is not None
    assert found.repeats
    assert found.is_after_restart
    assert found.difference.kind == ("ListOffsets", "topics.partitions.leader_epoch")
    creation, question = found.conversation.steps
    assert creation.api in ("CreateTopics", "Metadata")
    assert question.api == "ListOffsets"
    text = text_of_restart(found, SPECS)
    assert "  stop and restart" in text.splitlines()
    assert "wrong 0" in text


@pytest.mark.rotates(8)
def test_difference_before_restart_is_no_difference_of_the_restart() -> None:
    found = _first_difference(EpochOfLeader(is_first=False), [EARLY])
    assert found is not None
    assert not found.is_after_restart
    assert not found.repeats


@pytest.mark.rotates(8)
def test_slow_response_before_restart_is_no_difference() -> None:
    rule = FirstJoinWithoutResponse()
    assert _first_difference(rule, [JOINED]) is None
    assert rule.lost == 1


def test_same_seed_makes_same_conversations() -> None:
    first, second = [parted_conversations(7, EVERY, 2, LIKE) for _ in range(2)]
    assert first == second
    assert first != parted_conversations(8, EVERY, 2, LIKE)


def test_nothing_lost_by_a_kill_is_changed_after_the_first_restart() -> None:
    for one in parted_conversations(7, EVERY, 20, LIKE):
        later = [step.api for part in one.parts[1:] for step in part]
        assert "DeleteRecords" not in later


def test_conversations_change_no_object_of_all_clients() -> None:
    for one in parted_conversations(7, EVERY, 50, LIKE):
        commits = [step for step in one.steps if step.api == "OffsetCommit"]
        assert all(step.fields["group_id"] for step in commits)


def test_no_topic_is_deleted_before_4_0() -> None:
    shared = {**EVERY, "DeleteTopics": VersionRange(1, 6)}
    deletes = {
        like: any(
            step.api == "DeleteTopics"
            for one in parted_conversations(7, shared, 20, like)
            for step in one.steps
        )
        for like in ("", "3.9.2")
    }
    assert deletes == {"": True, "3.9.2": False}


def test_no_converted_batch_is_fetched() -> None:
    shared = {**EVERY, "Fetch": VersionRange(0, 17)}
    versions = [
        step.version
        for one in parted_conversations(7, shared, 20, LIKE)
        for step in one.steps
        if step.api == "Fetch"
    ]
    assert (min(versions), max(versions)) == (4, 17)
    old = {**EVERY, "Fetch": VersionRange(0, 3)}
    (made,) = parted_conversations(7, old, 1, LIKE)
    assert "Fetch" not in {step.api for step in made.steps}
