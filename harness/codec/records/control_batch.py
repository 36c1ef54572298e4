"""Contents of control batches: transaction markers, and the metadata quorum's control records."""

from __future__ import annotations

from harness.codec.data_framing.control_records import ControlRecord, read_control_record
from harness.codec.records.errors import RecordsError
from harness.codec.records.log_batch import LogBatch


def control_records(batch: LogBatch, release: str | None = None) -> list[ControlRecord]:
    """The type and message of each record; none for a batch that is no control batch.

    ``release`` as in :func:`read_control_record`. Raises DecodeError, and RecordsError for a
    record without key.
    """
    found = []
    for place, record in enumerate(batch.records if batch.is_control else ()):
        if record.key is None:
            raise RecordsError(
                f"control batch at offset {batch.base_offset}: record {place} has no key",
                offset=batch.position,
                path=f"records[{place}].key",
            )
        found.append(read_control_record(record.key, record.value, release))
    return found
