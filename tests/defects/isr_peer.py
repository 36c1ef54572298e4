"""Defects of areas ISR, EPOCH and REPL: who is in the ISR, and what a smaller one does."""

from __future__ import annotations

from harness.codec.messages import MetadataResponse
from harness.codec.structs import Message
from tests.defects.replicas import (
    Answered,
    Replicas,
    told_to_consumers,
    told_to_others,
    told_to_replicas,
)


def _newest(done: Replicas, answer: Message) -> MetadataResponse.MetadataResponsePartition | None:
    """What Metadata tells of the newest topic."""
    if not isinstance(answer, MetadataResponse):
        return None
    every = [partition for topic in answer.topics for partition in topic.partitions]
    return next((one for one in every if one.replica_nodes == done.replicas), None)


def _add_r3(done: Replicas, answer: Message) -> None:
    found = _newest(done, answer)
    if found is not None and done.replicas[2] not in found.isr_nodes:
        found.isr_nodes = [*found.isr_nodes, done.replicas[2]]


@told_to_others("ISR-009", r"R3 has fetched 3, 5 are committed: the ISR is")
def who_fetches_is_in_sync(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that is back is in the ISR with its first fetch."""
    if done.r3 == [0, 3, 3]:
        _add_r3(done, answer)


@told_to_others("ISR-010", r"R3 is fenced and fetches at the log end: the ISR is")
def who_is_fenced_is_in_sync(done: Replicas, _: Message, answer: Message) -> None:
    """Who fetches at the log end is in the ISR, fenced or not."""
    if done.r3 == [2, 2]:
        _add_r3(done, answer)


@told_to_others("ISR-014", r"after the shrink the leader epoch is 1, expected 0")
def a_shrink_begins_a_leader_epoch(done: Replicas, _: Message, answer: Message) -> None:
    """An ISR without R3 has another leader epoch."""
    found = _newest(done, answer)
    if found is not None and not done.asked and done.replicas[-1] not in found.isr_nodes:
        found.leader_epoch += 1


@told_to_replicas("EPOCH-006", r"offset 3 after epoch \d: the diverging epoch is")
def an_epoch_ends_one_later(_: Replicas, data: Answered) -> None:
    """The end offset of the epoch is its last offset and two."""
    if data.diverging_epoch.epoch >= 0:
        data.diverging_epoch.end_offset += 1


@told_to_consumers("REPL-012", r"the ISR is smaller than min.insync.replicas: .* watermark 2")
def a_leader_alone_commits(done: Replicas, _: int, data: Answered) -> None:
    """Below min.insync.replicas the high watermark moves on."""
    if done.has_configs and len(done.replicas) == 2 and len(done.acks) == 3:
        data.high_watermark = 2


@told_to_consumers("REPL-015", r"and R3 has not: a consumer is told the high watermark 4")
def only_the_isr_counts(done: Replicas, _: int, data: Answered) -> None:
    """Who is caught up and not in the ISR yet is not waited for."""
    if (done.r2, done.r3, len(done.acks)) == ([3, 4], [3], 4):
        data.high_watermark = 4


@told_to_consumers("REPL-017", r"not within .*: the watermark is 5")
def who_has_left_is_waited_for(done: Replicas, _: int, data: Answered) -> None:
    """A shrink moves no high watermark."""
    if done.r2[:5] == [0, 3, 3, 5, 5] and done.r3 == [0, 3]:
        data.high_watermark, data.records = 3, b""


DEFECTS = [
    who_fetches_is_in_sync,
    who_is_fenced_is_in_sync,
    a_shrink_begins_a_leader_epoch,
    an_epoch_ends_one_later,
    a_leader_alone_commits,
    only_the_isr_counts,
    who_has_left_is_waited_for,
]
