"""Defects of leader epochs without records that are left, at a leader among virtual brokers."""

from __future__ import annotations

from harness.codec.messages import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from harness.codec.structs import Message
from labs.defects.defect import joined_alone, rule
from labs.defects.replicas import Replicas

EARLIEST = -2


class DeletedEpochsStay(Replicas):
    """The broker keeps a leader epoch when DeleteRecords deletes its last record."""

    def __init__(self) -> None:
        super().__init__()
        self._ends: dict[tuple[str, int], int] = {}

    def answer(self, asked: Message, answer: Message) -> None:
        if not isinstance(asked, OffsetForLeaderEpochRequest):
            return
        assert isinstance(answer, OffsetForLeaderEpochResponse)
        for wanted, found in zip(asked.topics, answer.topics, strict=True):
            epoch, end = wanted.partitions[0].leader_epoch, found.partitions[0]
            known = self._ends.setdefault((wanted.topic, epoch), end.end_offset)
            end.end_offset = known or end.end_offset


class TheEarliestEpochStays(Replicas):
    """ListOffsets returns the log start with the first epoch of the log, deleted or not."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, int] = {}

    def answer(self, asked: Message, answer: Message) -> None:
        if not isinstance(asked, ListOffsetsRequest):
            return
        assert isinstance(answer, ListOffsetsResponse)
        for wanted, found in zip(asked.topics, answer.topics, strict=True):
            if wanted.partitions[0].timestamp == EARLIEST:
                earliest = found.partitions[0]
                known = self._first.setdefault(wanted.name, earliest.leader_epoch)
                earliest.leader_epoch = known


DEFECTS = [
    joined_alone(made)
    for made in (
        rule("EPOCH-019", r"deleted to \d: epoch \d+: \(epoch, end\) is", DeletedEpochsStay),
        rule("LISTO-010", r"deleted to \d: \(offset, epoch\) is", TheEarliestEpochStays),
    )
]
