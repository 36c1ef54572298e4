"""Batches of the metadata log: their encoding, and a reader that returns their records.

Source: KIP-595 (LeaderChange), KIP-868 (transactions), classes RaftClient, MetadataBatchLoader and
MetadataVersion (which version each record has).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.base.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.codec.data_framing.control_records import (
    CONTROL_TYPES,
    control_record_key,
    control_record_value,
)
from harness.codec.data_framing.coordinator_records import UnknownRecord
from harness.codec.data_framing.metadata_records import CLUSTER_METADATA
from harness.codec.errors import DecodeError
from harness.codec.messages import (
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
)
from harness.codec.records import encode_rows
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import CONTROL, RecordBatch
from harness.codec.records.compression import CompressionError
from harness.codec.records.control_batch import control_records
from harness.codec.records.errors import RecordsError

if TYPE_CHECKING:
    from harness.codec.structs import Message

_VERSIONS: Mapping[str, int] = {
    "RegisterBrokerRecord": 3,
    "BrokerRegistrationChangeRecord": 2,
    "PartitionRecord": 2,
    "PartitionChangeRecord": 2,
}
"""Record versions other than 0; with directories (KIP-858) and eligible leaders (KIP-966)."""
_ANY_BYTES = 2**31 - 1
_AT_THE_END = Offset(0)  # a placeholder: the append sets the real offset
_OF_A_BATCH = 1_000
UNREADABLE = (DecodeError, RecordsError, CompressionError)
"""The errors that a reader of damaged batches raises."""
_FOOTER = "SNAPSHOT_FOOTER"
_SAYS_NO_MORE = frozenset({"LEADER_CHANGE", "SNAPSHOT_HEADER", _FOOTER})
_BEGIN, _END, _ABORT = (f"{name}TransactionRecord" for name in ("Begin", "End", "Abort"))
_TYPE_OF = {message: number for number, (_, message) in CONTROL_TYPES.items()}


def record_batch(
    records: Sequence[Message], now: TimeMs, offset: Offset = _AT_THE_END, epoch: int = -1
) -> bytes:
    """Return a batch of records, each at its version in the current metadata.version."""
    versions = ((record, _VERSIONS.get(type(record).__name__, 0)) for record in records)
    header = RecordBatch(base_offset=offset, partition_leader_epoch=epoch)
    return encode_rows([(now, None, CLUSTER_METADATA.write(one, v)) for one, v in versions], header)


def control_batch(message: Message, offset: Offset, epoch: LeaderEpoch, now: TimeMs) -> bytes:
    """Return a control batch of the quorum itself, with one record at `offset`."""
    key = control_record_key(_TYPE_OF[type(message).__name__])
    header = RecordBatch(base_offset=offset, partition_leader_epoch=epoch, attributes=CONTROL)
    return encode_rows([(now, key, control_record_value(message))], header)


def leader_change(leader: BrokerId) -> LeaderChangeMessage:
    """Return the message after an election in which the only voter has voted for itself."""
    voters = [LeaderChangeMessage.Voter(voter_id=leader)]
    return LeaderChangeMessage(leader_id=leader, voters=voters, granting_voters=voters)


def snapshot_batches(records: Sequence[Message], epoch: LeaderEpoch, now: TimeMs) -> bytes:
    """Return a snapshot file: these records between a header and a footer (KIP-630)."""
    header = SnapshotHeaderRecord(last_contained_log_timestamp=now)
    parts, at = [control_batch(header, Offset(0), epoch, now)], 1
    for first in range(0, len(records), _OF_A_BATCH):
        some = records[first : first + _OF_A_BATCH]
        parts.append(record_batch(some, now, Offset(at), epoch))
        at += len(some)
    parts.append(control_batch(SnapshotFooterRecord(), Offset(at), epoch, now))
    return b"".join(parts)


class MetadataReading:
    """Reads a log piece by piece; the records of a transaction are returned at its end.

    ``is_whole`` is False after a control record that the returned records do not represent.
    ``saw_footer`` is True when a snapshot was read up to its end.
    """

    def __init__(self) -> None:
        self.is_whole, self.saw_footer = True, False
        self._waiting: list[Message] | None = None

    def records(self, batches: bytes) -> Iterator[tuple[Offset, list[Message]]]:
        """Yield the records of each batch, with the offset behind the batch.

        A control batch yields no records, and unknown records are left out. Raises DecodeError,
        RecordsError, CompressionError.
        """
        found = read_records(batches, limit_bytes=_ANY_BYTES)
        if found.problems:
            raise found.problems[0].error
        for batch in found.batches:
            end = Offset(batch.base_offset + batch.last_offset_delta + 1)
            if batch.is_control:
                names = [one.name for one in control_records(batch)]
                self.is_whole &= _SAYS_NO_MORE.issuperset(names)
                self.saw_footer |= _FOOTER in names
                yield end, []
                continue
            rows = [
                CLUSTER_METADATA.read(value) for _, _, _, value in batch.records.rows() if value
            ]
            known = [row.message for row in rows if not isinstance(row, UnknownRecord)]
            self.is_whole &= len(known) == len(rows)
            yield end, list(self._told(known))

    def _told(self, records: Sequence[Message]) -> Iterator[Message]:
        for record in records:
            name = type(record).__name__
            if name == _BEGIN:
                self._waiting = []
            elif name in (_END, _ABORT):
                yield from (self._waiting or ()) if name == _END else ()
                self._waiting = None
            elif self._waiting is not None:
                self._waiting.append(record)
            else:
                yield record
