"""Plausible defects of the brokers and the controller: the model must find each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.base.ids import BrokerId, Offset
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import api_56_alter_partition
from harness.reference_broker.state.controller import isr_changes
from harness.reference_broker.state.partition import following
from harness.reference_broker.state.partition.leading import Leading
from harness.reference_broker.state.partition.partition import Partition
from labs.replication_model import network

Plant = Callable[[pytest.MonkeyPatch], None]


def watermark_one_too_high(patch: pytest.MonkeyPatch) -> None:
    """The leader commits one record more than all of the ISR have."""
    right = Leading.high_watermark

    def wrong(self: Leading, end: Offset, *rest: Any) -> Offset | None:
        found = right(self, end, *rest)
        return found if found is None or found >= end else Offset(found + 1)

    patch.setattr(Leading, "high_watermark", wrong)


def shrink_counts_at_once(patch: pytest.MonkeyPatch) -> None:
    """The high watermark does not wait for replicas that are only proposed to leave the ISR."""

    def wrong(self: Leading) -> frozenset[BrokerId]:
        return self.isr if self.proposed is None else self.proposed

    patch.setattr(Leading, "maximal_isr", property(wrong))


def growth_counts_late(patch: pytest.MonkeyPatch) -> None:
    """The high watermark waits for replicas proposed to join only after the controller's answer."""
    patch.setattr(Leading, "maximal_isr", property(lambda self: self.isr))


def fenced_joins(patch: pytest.MonkeyPatch) -> None:
    """Neither the leader nor the controller checks that a broker may join the ISR."""
    patch.setattr(isr_changes, "_is_eligible", lambda *_: True)
    patch.setattr(Leading, "may_join", lambda *_: True)


def joins_below_epoch_start(patch: pytest.MonkeyPatch) -> None:
    """A follower with all committed records joins, even behind the start of the leader's epoch."""

    def wrong(self: Leading, broker_id: BrokerId, high_watermark: Offset, brokers: Any) -> Any:
        if self.proposed is not None or broker_id in self.isr:
            return None
        return self.isr | {broker_id} if self.may_join(broker_id, brokers) else None

    patch.setattr(Leading, "expansion", wrong)


def truncates_to_watermark(patch: pytest.MonkeyPatch) -> None:
    """As before KIP-101: a follower truncates to its own high watermark."""

    def wrong(partition: Partition, _epoch: int, _end: int) -> None:
        following.truncate(partition, partition.high_watermark)

    patch.setattr(network, "truncate_to_leader", wrong)


def stale_epoch_accepted(patch: pytest.MonkeyPatch) -> None:
    """A leader answers followers of another epoch, and the controller leaders of one."""
    patch.setattr(Partition, "epoch_problem", lambda *_: ErrorCode.NONE)
    patch.setattr(api_56_alter_partition, "problem_with", lambda *_: ErrorCode.NONE)


def answered_early(patch: pytest.MonkeyPatch) -> None:
    """acks=all is answered when the leader has the records."""

    def wrong(self: Partition, required: Offset) -> ErrorCode | None:
        return ErrorCode.NONE if self.log.end_offset >= required else None

    patch.setattr(Partition, "replicated", wrong)


def empty_epoch_stays(patch: pytest.MonkeyPatch) -> None:
    """Truncation at the log's end keeps everything, even the epoch of a leader without a record."""
    right = following.truncate

    def wrong(partition: Partition, end: Offset) -> None:
        if end < partition.log.end_offset:
            right(partition, end)

    patch.setattr(following, "truncate", wrong)


def news_end_a_proposal(patch: pytest.MonkeyPatch) -> None:
    """Metadata that repeats an earlier answer makes a leader forget its proposal."""
    right = Leading.registered

    def wrong(self: Leading, *given: Any, **named: Any) -> None:
        right(self, *given, **named)
        self.proposed = None

    patch.setattr(Leading, "registered", wrong)


def batches_are_not_begun_anew(patch: pytest.MonkeyPatch) -> None:
    """A follower does not cut its log for a batch that begins before the log's end."""
    patch.setattr(following, "_make_room", lambda *_: None)


DEFECTS: tuple[Plant, ...] = (
    watermark_one_too_high,
    shrink_counts_at_once,
    growth_counts_late,
    fenced_joins,
    joins_below_epoch_start,
    truncates_to_watermark,
    stale_epoch_accepted,
    answered_early,
    empty_epoch_stays,
    news_end_a_proposal,
    batches_are_not_begun_anew,
)
