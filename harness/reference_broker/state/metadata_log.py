"""The controller's log, ``__cluster_metadata``: records as Kafka writes them, read by fetching.

Source: KIP-500, KIP-595, KIP-631; class MetadataVersion (which version each record has).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from harness.codec.data_framing.coordinator_records import UnknownRecord
from harness.codec.data_framing.metadata_records import CLUSTER_METADATA
from harness.codec.records import encode_rows
from harness.codec.records.any_format import read_records
from harness.ids import LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.partition_registration import PartitionRegistration
from harness.reference_broker.state.topic import Topic
from harness.reference_broker.state.topic_names import CLUSTER_METADATA_TOPIC

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition import Partition

METADATA_TOPIC_ID = UUID(int=1)
_VERSIONS: Mapping[str, int] = {
    "RegisterBrokerRecord": 3,
    "BrokerRegistrationChangeRecord": 2,
    "PartitionRecord": 2,
    "PartitionChangeRecord": 2,
}
"""Where it is not 0; with the directories of KIP-858 and the eligible leaders of KIP-966."""
_ANY_BYTES = 2**31 - 1


class MetadataLog:
    """What the controller has decided, in order. It is the only replica, so all is committed."""

    def __init__(self, state: BrokerState, now: TimeMs) -> None:
        """The log is fetched from the state's cluster, in which it is not listed."""
        config = state.topic_config({"segment.bytes": str(2**30)})
        topic = Topic(CLUSTER_METADATA_TOPIC, METADATA_TOPIC_ID, config, partitions=[])
        own = state.cluster.host.own  # who is no broker is the leader of its own log
        registration = PartitionRegistration.new([own], [own])
        self._partition: Partition = state.cluster.add_partition(
            topic, PartitionIndex(0), registration, now
        )
        state.cluster.unlisted = topic
        self._begin_epoch(registration, now)

    def _begin_epoch(self, registration: PartitionRegistration, now: TimeMs) -> None:
        """Each start of the controller is an epoch of its own."""
        latest = self._partition.epochs.latest
        if latest is not None and self._partition.log.end_offset > 0:
            epoch = LeaderEpoch(latest + 1)
            self._partition.register(replace(registration, leader_epoch=epoch), now)

    def records(self) -> Iterator[tuple[Offset, list[Message]]]:
        """All that was decided up to now, each batch with the offset behind it."""
        log = self._partition.log
        for batch in log.between(log.start_offset, log.end_offset):
            yield from decoded(batch.data)

    @property
    def end_offset(self) -> Offset:
        """Where the next record goes."""
        return self._partition.log.end_offset

    def append(self, records: Sequence[Message], now: TimeMs) -> list[Effect]:
        """Write one batch."""
        if not records:
            return []
        rows = [(now, None, encoded(record)) for record in records]
        return list(self._partition.append(encode_rows(rows), now).effects)


def encoded(record: Message) -> bytes:
    """A record at the version that the present metadata.version has."""
    return CLUSTER_METADATA.write(record, _VERSIONS.get(type(record).__name__, 0))


def decoded(batches: bytes) -> Iterator[tuple[Offset, list[Message]]]:
    """The records of each batch with the offset behind it; what is not known is left out."""
    for batch in read_records(batches, limit_bytes=_ANY_BYTES).batches:
        rows = list(batch.records.rows())
        values = [CLUSTER_METADATA.read(value) for _, _, _, value in rows if value]
        known = [one.message for one in values if not isinstance(one, UnknownRecord)]
        yield Offset(rows[-1][0] + 1), known
