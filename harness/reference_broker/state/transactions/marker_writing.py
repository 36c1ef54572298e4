"""Markers in the partitions that this broker leads, and the ends of transactions behind them.

Markers for other leaders are sent by the node (``cluster/marker_sender.py``).

Source: class KafkaApis (handleWriteTxnMarkersRequest), class TransactionMarkerChannelManager.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect, MarkersAwaited
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.coordinator_append import WantedMarker, append_marker
from harness.reference_broker.state.topics.topic_names import GROUP_METADATA_TOPIC
from harness.reference_broker.state.transactions.ending import complete

if TYPE_CHECKING:
    from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets
    from harness.reference_broker.state.groups.group_log import GroupLog
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.cluster import ClusterState
    from harness.reference_broker.state.transactions.marker_rounds import MarkerRound
    from harness.reference_broker.state.transactions.transaction import Place
    from harness.reference_broker.state.transactions.transactions import Transactions

_MAGIC_WITH_MARKERS = 2
OF_A_LATER_COORDINATOR = frozenset(
    {ErrorCode.TRANSACTION_COORDINATOR_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH}
)
"""The errors of a leader behind which a coordinator sends no more markers of a transaction."""


class MarkerWriter:
    """Writes markers; in a partition of the groups a marker also ends pending offsets."""

    __slots__ = ("_cluster", "_group_log", "_offsets")

    def __init__(
        self, cluster: ClusterState, offsets: CommittedOffsets, group_log: GroupLog
    ) -> None:
        self._cluster, self._offsets, self._group_log = cluster, offsets, group_log

    def partition_at(self, place: Place) -> Partition | None:
        """Return the partition of that name; None if there is none."""
        topic = self._cluster.named(place[0])
        return None if topic is None else topic.partition(place[1])

    def write(
        self, topic: str, partition: Partition, marker: WantedMarker, now: TimeMs
    ) -> Sequence[Effect]:
        """Append a marker with the effects of the append. Raises AppendRefused."""
        if partition.leading is None:
            raise AppendRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if partition.config.message_magic < _MAGIC_WITH_MARKERS:
            raise AppendRefused(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
        if len(partition.leading.isr) < partition.min_isr:
            raise AppendRefused(ErrorCode.NOT_ENOUGH_REPLICAS)
        appended = append_marker(partition, marker, now)
        if topic == GROUP_METADATA_TOPIC:
            self._offsets.end_transaction(
                marker.producer_id,
                lambda group_id: self._group_log.partition_of(group_id) is partition,
                aborts=marker.aborts,
            )
        return appended.effects


def settle(transactions: Transactions, writer: MarkerWriter, now: TimeMs) -> list[Effect]:
    """Write the markers that can be written now; end the transactions that have all of theirs."""
    effects: list[Effect] = []
    for each in transactions.rounds.all():
        if not each.is_certain:
            continue
        for place in sorted(each.left):
            effects += _settle_place(each, place, writer, now)
        if each.is_given_up:
            transactions.rounds.end(each.of.transactional_id)
        elif not each.left:
            complete(transactions, each.of, now)
    return effects


def marker_of_round(one: MarkerRound) -> WantedMarker:
    """Return the marker that each partition of a round gets."""
    decided = one.of
    return WantedMarker(
        decided.producer_id,
        decided.producer_epoch,
        one.coordinator_epoch,
        one.aborts,
        decided.client_version,
    )


def _settle_place(
    one: MarkerRound, place: Place, writer: MarkerWriter, now: TimeMs
) -> Sequence[Effect]:
    """Write one marker, or look if the one that was written is on all replicas in sync."""
    partition = writer.partition_at(place)
    effects: Sequence[Effect] = ()
    if partition is None:  # deleted meanwhile
        one.left.discard(place)
        return effects
    if partition.leading is None:
        one.written.pop(place, None)
        is_new = place not in one.announced
        one.announced.add(place)
        return [MarkersAwaited()] if is_new else effects
    one.announced.discard(place)
    if place not in one.written:
        try:
            effects = writer.write(place[0], partition, marker_of_round(one), now)
        except AppendRefused as refused:
            one.is_given_up |= refused.error in OF_A_LATER_COORDINATOR
            return effects
        one.written[place] = partition.log.end_offset
    if partition.replicated(one.written[place]) is ErrorCode.NONE:
        one.left.discard(place)
    return effects
