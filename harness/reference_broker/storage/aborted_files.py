"""A segment's transaction index: the transactions that markers in the segment abort.

The file does not exist while there are none. Source: class TransactionIndex.
"""

from __future__ import annotations

from pathlib import Path

from harness.base.ids import Offset, ProducerId
from harness.codec import messages
from harness.codec.data_framing import read_transaction_index, transaction_index_bytes
from harness.codec.data_framing.log_files import ABORTED_TXN_BYTES
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.storage.open_files import OpenFiles, write_all


def append_aborted(files: OpenFiles, path: Path, aborted: AbortedTransaction) -> None:
    """Append an entry; the first one creates the file. Raises OSError."""
    entry = messages.AbortedTxn(
        producer_id=aborted.producer_id,
        first_offset=aborted.first_offset,
        last_offset=aborted.last_offset,
        last_stable_offset=aborted.last_stable_offset,
    )
    descriptor = files.descriptor(path)
    whole = path.stat().st_size // ABORTED_TXN_BYTES * ABORTED_TXN_BYTES
    write_all(descriptor, transaction_index_bytes([entry]), whole)


def read_aborted(path: Path) -> list[AbortedTransaction]:
    """Return all whole entries. Raises DecodeError, OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = data[: len(data) // ABORTED_TXN_BYTES * ABORTED_TXN_BYTES]
    return [
        AbortedTransaction(
            ProducerId(one.producer_id),
            Offset(one.first_offset),
            Offset(one.last_offset),
            Offset(one.last_stable_offset),
        )
        for one in read_transaction_index(whole)
    ]


def keep_aborted_below(path: Path, end: Offset) -> None:
    """Remove the entries with a marker at `end` or behind it. Raises OSError."""
    found = read_aborted(path)
    kept = sum(one.last_offset < end for one in found)
    if kept < len(found):
        with path.open("r+b") as file:
            file.truncate(kept * ABORTED_TXN_BYTES)
