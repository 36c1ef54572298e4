"""Defects of TXN and IDEM: the ends of transactions for readers, operators and later producers."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeProducersResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    ListTransactionsRequest,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from, of_client

MUCH, LAST_EPOCH, NO_TRANSACTION = 1 << 20, 2**15 - 2, -1


@takes_from_client("TXN-053", r"answered after \d+ ms, max_wait_ms is")
def the_end_of_a_transaction_wakes_no_reader(request: FetchRequest) -> None:
    """A fetch with read_committed waits to its end, whatever transactions end meanwhile."""
    request.min_bytes = MUCH


@answers("TXN-054", r"the other topic: the markers are \[\]", asked=of_client("TXN-054"))
def a_deleted_topic_holds_up_the_markers(answer: FetchResponse) -> None:
    """The broker writes no marker of a transaction with a topic that is deleted."""
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.records = b""


@answers("TXN-055", r"isolation level 0, .* are \[\], expected None", asked=of_client("TXN-055"))
def the_list_is_there_always(answer: FetchResponse) -> None:
    """The broker returns an empty list of aborted transactions with read_uncommitted."""
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.aborted_transactions = partition.aborted_transactions or []


@answers("TXN-055", r"isolation level 1, .* are None, expected \[\]", asked=of_client("TXN-055"))
def no_list_for_no_transaction(answer: FetchResponse) -> None:
    """The broker returns null where no transaction in range was aborted."""
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.aborted_transactions = partition.aborted_transactions or None


@takes_from_client("TXN-056", r"partition 2: the values are \[b'two'\]")
def all_markers_are_of_the_first_kind(request: WriteTxnMarkersRequest) -> None:
    """The broker ends all transactions of a request as the first one."""
    for marker in request.markers:
        marker.transaction_result = request.markers[0].transaction_result


@answers("TXN-057", r"a commit with epoch 32766: the id stays")
def the_last_epoch_stays(request: EndTxnRequest, answer: EndTxnResponse) -> None:
    """The end of a transaction with the last epoch returns the same producer id."""
    if request.producer_epoch == LAST_EPOCH and answer.error_code == ErrorCode.NONE:
        answer.producer_id = request.producer_id


@takes_from_client("TXN-059", r": listed are \[.*\], expected|a wrong pattern: error is NONE")
def every_id_matches(request: ListTransactionsRequest) -> None:
    """ListTransactions ignores the pattern of transactional ids."""
    request.transactional_id_pattern = None


class SessionsKeepTheirLevel(FrameRule):
    """A fetch session has the isolation level of its first request."""

    def __init__(self) -> None:
        self._level = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, FetchRequest) or not is_from(seen, "FETCH-062"):
            return seen.payload
        if request.session_epoch == 0:
            self._level = request.isolation_level
        request.isolation_level = self._level
        return with_body(seen, request)


DEFECTS = [
    rule("FETCH-062", r"isolation level 0: the values are \[\]", SessionsKeepTheirLevel),
    the_end_of_a_transaction_wakes_no_reader,
    a_deleted_topic_holds_up_the_markers,
    the_list_is_there_always,
    no_list_for_no_transaction,
    changed_field("TXN-056", "an_unknown_partition_has_its_marker",
        r"the commit, partition 77 .*: error is NONE",
        "WriteTxnMarkers returns no error for a partition that does not exist.",
        WriteTxnMarkersResponse, "markers.topics.partitions.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE, asked=of_client("TXN-056")),
    all_markers_are_of_the_first_kind,
    the_last_epoch_stays,
    changed_field("TXN-058", "no_producer_has_a_transaction",
        r"both are open: \(epoch, last sequence, start\) by id is",
        "DescribeProducers returns no transaction of any producer.",
        DescribeProducersResponse, "topics.partitions.active_producers.current_txn_start_offset",
        ANY, NO_TRANSACTION, asked=of_client("TXN-058")),
    every_id_matches,
    changed_field("IDEM-035", "every_partition_has_producers",
        r"\(error, producers\) by partition is",
        "DescribeProducers returns no error for a partition that does not exist.",
        DescribeProducersResponse, "topics.partitions.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE, asked=of_client("IDEM-035")),
]  # fmt: skip
