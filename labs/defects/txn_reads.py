"""Defects of areas TXN, LISTO, RECF: what consumers read of transactions."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    ListOffsetsRequest,
)
from harness.codec.records import CONTROL, TRANSACTIONAL, RecordBatch, decode_batches, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, of_client

READ_UNCOMMITTED, READ_COMMITTED = 0, 1


def _partitions(answer: FetchResponse) -> list[FetchResponse.PartitionData]:
    return [one for topic in answer.responses for one in topic.partitions]


# -- markers ---------------------------------------------------------------------------------------


@takes_from_client("TXN-020", r"the markers \(offset, is a commit\) are .*, expected")
def the_two_ends_change_places(request: EndTxnRequest) -> None:
    """The broker writes an abort marker for a commit, and a commit marker for an abort."""
    request.committed = not request.committed


@takes_from_client("TXN-020", r"partition 1 of the first topic: the markers .* are \[\], expected")
def a_partition_without_records_gets_no_marker(request: AddPartitionsToTxnRequest) -> None:
    """The broker writes markers only to partitions in which the transaction has records."""
    for topic in request.v3_and_below_topics:
        if topic.partitions == [1]:
            topic.partitions = [0]


def _each_batch(answer: FetchResponse, attributes_without: int) -> None:
    for partition in _partitions(answer):
        batches = decode_batches(bytes(partition.records or b""))
        partition.records = b"".join(
            encode_batch(_without(batch, attributes_without)) for batch in batches
        )


def _without(batch: RecordBatch, bits: int) -> RecordBatch:
    if not batch.attributes & CONTROL:
        return batch
    return replace(batch, attributes=batch.attributes & ~bits, crc=None)


@answers("TXN-039", r"\(offset, is a marker\) is \[.*False\)\]", asked=of_client("TXN-039"))
def markers_are_data(answer: FetchResponse) -> None:
    """The broker returns markers as batches of data."""
    _each_batch(answer, CONTROL)


@answers("RECF-018", r"bits 4 and 5 are \[16, 32, 16, 32, 0\]", asked=of_client("RECF-018"))
def markers_are_not_transactional(answer: FetchResponse) -> None:
    """The broker leaves bit 4 of markers clear."""
    _each_batch(answer, TRANSACTIONAL)


@answers("RECF-019", r"the keys are ", asked=of_client("RECF-019"))
def the_type_precedes_the_version(answer: FetchResponse) -> None:
    """The key of a marker begins with its type."""
    for partition in _partitions(answer):
        batches = decode_batches(bytes(partition.records or b""))
        partition.records = b"".join(encode_batch(_with_turned_key(one)) for one in batches)


def _with_turned_key(batch: RecordBatch) -> RecordBatch:
    if not batch.attributes & CONTROL:
        return batch
    (record,) = batch.records
    key = bytes(record.key or b"")
    return replace(batch, records=[replace(record, key=key[2:] + key[:2])], crc=None)


# -- isolation -------------------------------------------------------------------------------------


@takes_from_client("TXN-021", r"(open|aborted): the values are")
def an_open_transaction_is_read(request: FetchRequest) -> None:
    """The broker returns records of open transactions with read_committed."""
    request.isolation_level = READ_UNCOMMITTED


@answers("TXN-021", r"aborted: the values are", asked=of_client("TXN-021"))
def aborted_transactions_are_not_listed(answer: FetchResponse) -> None:
    """The broker returns no aborted transactions beside their records."""
    for partition in _partitions(answer):
        partition.aborted_transactions = partition.aborted_transactions and []


@takes_from_client("TXN-022", r"open: the values are \[\]|the values are \[b'aborted', b'plain'\]")
def every_read_is_committed(request: FetchRequest) -> None:
    """The broker returns nothing behind an open transaction with read_uncommitted either."""
    request.isolation_level = READ_COMMITTED


@answers("TXN-023", r"two open transactions: \(last stable", asked=of_client("TXN-023"))
def all_is_stable(answer: FetchResponse) -> None:
    """The broker returns the high watermark as the last stable offset."""
    for partition in _partitions(answer):
        partition.last_stable_offset = partition.high_watermark


@answers("TXN-023", r"the first has ended: \(last stable", asked=of_client("TXN-023"))
def the_first_open_transaction_stays(answer: FetchResponse) -> None:
    """The last stable offset stays while any transaction is open."""
    for partition in _partitions(answer):
        if partition.last_stable_offset < partition.high_watermark:
            partition.last_stable_offset = min(partition.last_stable_offset, 2)


@takes_from_client("TXN-024", r"open, from offset \d: the values are")
def open_transactions_hold_nothing_back(request: FetchRequest) -> None:
    """The broker returns what is behind an open transaction with read_committed."""
    request.isolation_level = READ_UNCOMMITTED


@answers(
    "TXN-025",
    r"(from offset \d|log start \d|partitions \(.*\)): the aborted transactions",
    asked=of_client("TXN-025"),
)
def one_aborted_transaction_is_enough(answer: FetchResponse) -> None:
    """The broker returns at most one aborted transaction."""
    for partition in _partitions(answer):
        if partition.aborted_transactions:
            partition.aborted_transactions = partition.aborted_transactions[:1]


@answers(
    "TXN-025",
    r"(from offset \d|log start \d|none is aborted|partitions .*): the aborted transactions are",
    asked=of_client("TXN-025"),
)
def a_committed_transaction_counts_as_aborted(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker lists committed transactions among the aborted ones."""
    if request.isolation_level == READ_COMMITTED:
        for partition in _partitions(answer):
            committed = FetchResponse.AbortedTransaction(producer_id=7, first_offset=0)
            partition.aborted_transactions = [*(partition.aborted_transactions or []), committed]


class OneTransactionAtATime(FrameRule):
    """The broker refuses the end of a transaction while another one is open."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if is_from(seen, "TXN-041"):
            if isinstance(request, InitProducerIdRequest) and request.transactional_id:
                self._open.add(request.transactional_id)
            if isinstance(request, EndTxnRequest):
                self._open.discard(request.transactional_id)
                seen.notes["refused"] = bool(self._open)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> list[bytes]:
        return [edited(seen, payload, _refuse)] if seen.notes.get("refused") else [payload]


def _refuse(_: SeenRequest, answer: EndTxnResponse) -> None:
    answer.error_code = ErrorCode.INVALID_TXN_STATE
    answer.producer_id = answer.producer_epoch = -1


@takes_from_client(
    "LISTO-007",
    r"(latest|open), read_committed: \(error, offset\) is \(0, [04]\), expected"
    r"|partitions \(.*\): the \(error, offset\)",
)
def list_offsets_has_one_isolation_level(request: ListOffsetsRequest) -> None:
    """ListOffsets ignores the isolation level."""
    request.isolation_level = READ_UNCOMMITTED


DEFECTS = [
    the_two_ends_change_places,
    a_partition_without_records_gets_no_marker,
    markers_are_data,
    markers_are_not_transactional,
    the_type_precedes_the_version,
    an_open_transaction_is_read,
    aborted_transactions_are_not_listed,
    every_read_is_committed,
    all_is_stable,
    the_first_open_transaction_stays,
    open_transactions_hold_nothing_back,
    one_aborted_transaction_is_enough,
    a_committed_transaction_counts_as_aborted,
    rule("TXN-041", r"the end of the later one: error is INVALID_TXN_STATE",
         OneTransactionAtATime),
    list_offsets_has_one_isolation_level,
]  # fmt: skip
