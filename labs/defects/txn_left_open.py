"""Defects of area TXN: transactions that stay open, and aborted ones in a short read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    ListTransactionsRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from, of_client
from labs.defects.txn_offsets import fetched_offsets

NONE = ErrorCode.NONE
FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})
OF_DELETED = 9  # the pending offset of TXN-066
LATER_PARTITION = [1]
HOUR_MS = 3_600_000


@answers("TXN-026", r"a partition behind the timeout: error is NONE", asked=of_client("TXN-026"))
def each_partition_begins_the_timeout_anew(answer: AddPartitionsToTxnResponse) -> None:
    """A transaction may last as long as its producer adds partitions to it."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            if one.partition_error_code in FENCED:
                one.partition_error_code = NONE


def _adds(request: AddPartitionsToTxnRequest) -> list[int]:
    return [index for topic in request.v3_and_below_topics for index in topic.partitions]


class DurationsBeginAnew(FrameRule):
    """The duration of a transaction counts from the last partition that was added to it."""

    def __init__(self) -> None:
        self._is_changed = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not is_from(seen, "TXN-037"):
            return seen.payload
        if isinstance(request, AddPartitionsToTxnRequest):
            self._is_changed = _adds(request) == LATER_PARTITION
            return seen.payload
        if not isinstance(request, ListTransactionsRequest) or request.duration_filter < 0:
            return seen.payload
        if self._is_changed:
            request.duration_filter = HOUR_MS
        return with_body(seen, request)


class OpenTransactionsExpire(FrameRule):
    """A transactional id expires while a transaction is open, too."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, AddPartitionsToTxnRequest) or not is_from(seen, "TXN-040"):
            return seen.payload
        if _adds(request) == LATER_PARTITION:
            self._open.add(request.v3_and_below_producer_id)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, EndTxnRequest) and request.producer_id in self._open:
            return [edited(seen, payload, _unmapped)]
        return [payload]


def _unmapped(_: SeenRequest, answer: EndTxnResponse) -> None:
    answer.error_code = ErrorCode.INVALID_PRODUCER_ID_MAPPING


@answers(
    "TXN-064",
    r"(in the transaction|after a \w+,) the last stable offset is \d",
    asked=of_client("TXN-064"),
)
def idle_transactions_are_forgotten(answer: FetchResponse) -> None:
    """A producer expires with its open transaction, which delays no consumer any more."""
    for topic in answer.responses:
        for one in topic.partitions:
            one.last_stable_offset = one.high_watermark


@takes_from_client("TXN-065", r"the id of another producer: error is CONCURRENT_TRANSACTIONS")
def an_open_transaction_is_aborted_first(request: InitProducerIdRequest) -> None:
    """The broker looks at the identity only where no transaction is open."""
    request.producer_id = request.producer_epoch = -1


class PendingOffsetsOutliveTheirTopic(FrameRule):
    """The broker keeps the pending offsets of a topic that is deleted."""

    def __init__(self) -> None:
        self._pending: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, TxnOffsetCommitRequest) and is_from(seen, "TXN-066"):
            self._pending.add(seen.message.group_id)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, OffsetFetchRequest):
            return [payload]
        groups = [group.group_id for group in request.groups] or [request.group_id]
        return [edited(seen, payload, _bring_back)] if self._pending & set(groups) else [payload]


def _bring_back(_: SeenRequest, answer: OffsetFetchResponse) -> None:
    for one in fetched_offsets(answer):
        if one.committed_offset < 0:
            one.committed_offset = OF_DELETED


@answers(
    "TXN-025",
    r"from offset 0: the aborted transactions of a short read are",
    asked=of_client("TXN-025"),
)
def the_first_end_is_the_last_to_list(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker looks no further than to the first transaction that ends behind a short read."""
    if request.topics[0].partitions[0].partition_max_bytes == 1:
        for topic in answer.responses:
            for one in topic.partitions:
                aborted = one.aborted_transactions or []
                one.aborted_transactions = [each for each in aborted if each.first_offset > 0]


@answers("TXN-071", r"none is aborted: the aborted transactions are", asked=of_client("TXN-071"))
def a_marker_alone_is_listed(answer: FetchResponse) -> None:
    """The broker lists the abort of a transaction that has no records in the partition."""
    for topic in answer.responses:
        for one in topic.partitions:
            listed = FetchResponse.AbortedTransaction(producer_id=7, first_offset=0)
            one.aborted_transactions = [listed, *(one.aborted_transactions or [])]


DEFECTS = [
    a_marker_alone_is_listed,
    the_first_end_is_the_last_to_list,
    replace(each_partition_begins_the_timeout_anew, private=True),
    rule("TXN-037", r"behind one more partition: listed are \[\]", DurationsBeginAnew),
    replace(
        rule("TXN-040", r"EndTxn of the id in a transaction: error is INVALID_PRODUCER_ID_MAPPING",
             OpenTransactionsExpire),
        private=True,
    ),
    replace(idle_transactions_are_forgotten, private=True),
    an_open_transaction_is_aborted_first,
    rule("TXN-066", r"the deleted topic, partition 0: offset is 9",
         PendingOffsetsOutliveTheirTopic),
]  # fmt: skip
