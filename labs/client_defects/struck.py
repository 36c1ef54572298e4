"""Defects that clients notice on a way that fails once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.codec.messages import ListOffsetsResponse, MetadataResponse, OffsetFetchResponse
from harness.codec.records import Record, RecordBatch
from labs.client_defects.fetched import each_batch, each_record
from labs.client_defects.records import EveryBatchIsNew
from labs.defects.defect import Defect, rule
from labs.defects.edited_answer import answers

LISTED = 3
"""The offset for the time that the test asks for."""


def _of(number: int, name: str, what: str, make: Callable[[str], Callable[[Any], Defect]],
        change: Callable[[Any], Any]) -> Defect:  # fmt: skip
    """A defect of its own for one requirement, of a change that several have."""

    def named(one: Any) -> Any:
        return change(one)

    named.__name__, named.__doc__ = name, what
    return make(f"CLIENT-{number:03}")(named)


def _not_stored(number: int, where: str) -> Defect:
    def change(batch: RecordBatch) -> RecordBatch:
        return replace(batch, producer_id=-1)

    return _of(
        number,
        f"producer_id_is_not_stored_{where}",
        "The broker stores batches of idempotent producers without their producer id.",
        lambda name: each_batch(name, r"batches have the producer id -1"),
        change,
    )


def _other_value(number: int, where: str, values: tuple[bytes, bytes], reason: str) -> Defect:
    before, after = values

    def change(record: Record) -> Record:
        return replace(record, value=after) if record.value == before else record

    return _of(
        number,
        f"another_value_{where}",
        "A record comes back with another value.",
        lambda name: each_record(name, reason),
        change,
    )


def _committed_changes(number: int, where: str) -> Defect:
    reason = r"a read_committed consumer: \['t3', 't2', 't3', 'last'\] came"
    return _other_value(number, where, (b"t1", b"t3"), reason)


def _read_changes(number: int, where: str) -> Defect:
    reason = r"behind the fault, record 7: .*'value': '0-x'"
    return _other_value(number, where, (b"0-7", b"0-x"), reason)


def _member_gets_another(number: int, where: str) -> Defect:
    return _other_value(number, where, (b"1-3", b"1-x"), r"records of other values")


def _commit_is_lower(number: int, where: str) -> Defect:
    def change(answer: OffsetFetchResponse) -> None:
        topics: list[Any] = [*answer.topics]
        topics += [topic for group in answer.groups for topic in group.topics]
        for one in (one for topic in topics for one in topic.partitions):
            one.committed_offset = max(one.committed_offset - 1, min(0, one.committed_offset))

    def make(answer: OffsetFetchResponse) -> None:
        change(answer)

    make.__name__ = f"a_commit_is_one_lower_{where}"
    make.__doc__ = "OffsetFetch returns the offset before the committed one."
    return answers(f"CLIENT-{number:03}", r"a new member has read \[\d")(make)


class BatchSentAgainIsNew(EveryBatchIsNew):
    """The broker stores a batch again after its first answer has said that it is not safe."""


@answers("CLIENT-044", r"offsets are \{0: 4\}, expected 3")
def the_time_behind_a_lost_answer(answer: ListOffsetsResponse) -> None:
    """ListOffsets returns the offset behind the first record from a time."""
    for topic in answer.topics:
        for one in topic.partitions:
            one.offset += one.offset == LISTED


@answers("CLIENT-051", r"the new topic is listed")
def a_topic_of_another_controller_is_not_listed(answer: MetadataResponse) -> None:
    """Metadata does not list the topics of the tests."""
    answer.topics = [one for one in answer.topics if not (one.name or "").startswith("kc-")]


@answers("CLIENT-052", r"partitions are described as")
def no_replica_is_in_sync_on_a_new_connection(answer: MetadataResponse) -> None:
    """The broker lists every partition with an empty ISR."""
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.isr_nodes = []


DEFECTS = [
    _not_stored(32, "by_another_leader"),
    _not_stored(33, "behind_a_late_answer"),
    _not_stored(34, "behind_a_cut"),
    _not_stored(35, "by_a_coordinator_that_loads"),
    _not_stored(36, "behind_lost_metadata"),
    rule("CLIENT-037", r"the records have the sequences", BatchSentAgainIsNew),
    _committed_changes(38, "behind_a_lost_commit"),
    _committed_changes(39, "by_another_coordinator"),
    _committed_changes(40, "behind_another_transaction"),
    _read_changes(41, "of_another_leader"),
    _read_changes(42, "of_a_late_answer"),
    _read_changes(43, "behind_a_cut_answer"),
    the_time_behind_a_lost_answer,
    _member_gets_another(45, "without_a_coordinator"),
    _member_gets_another(46, "while_groups_are_loaded"),
    _member_gets_another(47, "of_another_coordinator"),
    _member_gets_another(48, "in_a_rebalance"),
    _commit_is_lower(49, "behind_a_lost_answer"),
    _commit_is_lower(50, "while_offsets_are_loaded"),
    a_topic_of_another_controller_is_not_listed,
    no_replica_is_in_sync_on_a_new_connection,
]
