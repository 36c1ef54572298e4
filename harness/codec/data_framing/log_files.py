"""Files beside the log: a segment's transaction index, and snapshots of producers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import google_crc32c

from harness.codec import messages
from harness.codec.data_framing.version_prefix import (
    VERSION,
    read_version_prefixed,
    version_prefixed_bytes,
)
from harness.codec.errors import DecodeError

if TYPE_CHECKING:
    from harness.codec.messages import AbortedTxn, ProducerSnapshot

ABORTED_TXN_BYTES = 34  # int16 version and four int64
PRODUCER_SNAPSHOT_VERSION = 1
AFTER_CRC = 6  # int16 version and uint32 checksum


def read_transaction_index(data: bytes) -> list[AbortedTxn]:
    """All entries of a transaction index. Raises DecodeError, also when the last one is cut.

    The path of an error begins with the entry, its offset counts from the start of the file.
    Source: ``AbortedTxn``, ``TransactionIndex``.
    """
    found = []
    for start in range(0, len(data), ABORTED_TXN_BYTES):
        entry = data[start : start + ABORTED_TXN_BYTES]
        try:
            found.append(read_version_prefixed(messages.AbortedTxn, entry).message)
        except DecodeError as error:
            path = f"[{start // ABORTED_TXN_BYTES}].{error.path}".removesuffix(".")
            raise DecodeError(
                error.problem,
                message=error.message,
                version=error.version,
                path=path,
                offset=start + error.offset,
            ) from None
    return found


def transaction_index_bytes(entries: list[AbortedTxn]) -> bytes:
    """The whole file. Raises EncodeError."""
    return b"".join(version_prefixed_bytes(entry, 0) for entry in entries)


def read_producer_snapshot(data: bytes) -> ProducerSnapshot:
    """The whole file. Raises DecodeError, also when the CRC-32C is not that of the entries.

    Source: ``ProducerStateManager``.
    """
    found = read_version_prefixed(messages.ProducerSnapshot, data).message
    crc = google_crc32c.value(bytes(data[AFTER_CRC:]))
    if found.crc != crc:
        problem = f"checksum is 0x{found.crc:08x}, that of the entries 0x{crc:08x}"
        raise DecodeError(
            problem,
            message="ProducerSnapshot",
            version=PRODUCER_SNAPSHOT_VERSION,
            path="crc",
            offset=VERSION.size,
        )
    return found


def producer_snapshot_bytes(snapshot: ProducerSnapshot) -> bytes:
    """The whole file; the checksum in it is computed, ``snapshot`` stays. Raises EncodeError."""
    made = version_prefixed_bytes(snapshot, PRODUCER_SNAPSHOT_VERSION)
    crc: int = google_crc32c.value(made[AFTER_CRC:])
    return made[: VERSION.size] + crc.to_bytes(4, "big") + made[AFTER_CRC:]
