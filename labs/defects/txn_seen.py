"""Defects of area TXN: other writers, the APIs that show transactions, and times."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnResponse,
    DescribeTransactionsResponse,
    EndTxnResponse,
    InitProducerIdRequest,
    ListTransactionsRequest,
    ListTransactionsResponse,
    ProduceResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.client_requests import takes_from_client
from labs.defects.edited_answer import answers
from labs.defects.one_client import of_client

FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})
NONE, TIMEOUT_MS, LONG_MS = ErrorCode.NONE, 60_000, 600_000


@takes_from_client(
    "TXN-026",
    r"the markers \(offset, is a commit\) are \[\]|a partition behind the timeout: error is NONE",
)
def transactions_have_no_timeout(request: InitProducerIdRequest) -> None:
    """The broker ignores a timeout below ten minutes."""
    request.transaction_timeout_ms = max(request.transaction_timeout_ms, LONG_MS)


@answers("TXN-026", r"a late (commit|abort): error is NONE", asked=of_client("TXN-026"))
def a_late_producer_may_end(answer: EndTxnResponse) -> None:
    """The broker accepts the end of a transaction that was aborted by its timeout."""
    if answer.error_code in FENCED:
        answer.error_code = NONE


@takes_from_client("TXN-037", r"listed are \[.*\], expected")
def transactions_of_all_states_are_listed(request: ListTransactionsRequest) -> None:
    """ListTransactions ignores the filter of states."""
    request.state_filters = []


@takes_from_client("TXN-037", r"\bids?( of none)?: listed are \[.*\], expected")
def transactions_of_all_producers_are_listed(request: ListTransactionsRequest) -> None:
    """ListTransactions ignores the filter of producer ids."""
    request.producer_id_filters = []


@takes_from_client("TXN-037", r"longer than 3600000 ms: listed are \['open'\]")
def transactions_of_any_duration_are_listed(request: ListTransactionsRequest) -> None:
    """ListTransactions ignores the filter of durations."""
    request.duration_filter = -1


@answers("TXN-037", r"filters .*: unknown are \[\], expected", asked=of_client("TXN-037"))
def unknown_filters_are_not_returned(answer: ListTransactionsResponse) -> None:
    """ListTransactions returns no filter that it does not know."""
    answer.unknown_state_filters = []


@takes_from_client("TXN-038", r"the aborted transactions are \[\]")
def a_marker_is_always_a_commit(request: WriteTxnMarkersRequest) -> None:
    """The broker writes a commit marker for each request of an admin."""
    for marker in request.markers:
        marker.transaction_result = True


@answers("TXN-038", r"an epoch below: error is NONE", asked=of_client("TXN-038"))
def a_former_coordinator_may_write(answer: WriteTxnMarkersResponse) -> None:
    """The broker accepts markers of a former coordinator."""
    for marker in answer.markers:
        for topic in marker.topics:
            for one in topic.partitions:
                one.error_code = int(NONE)


DEFECTS = [
    replace(transactions_have_no_timeout, private=True),
    replace(a_late_producer_may_end, private=True),
    changed_field("TXN-035", "a_producer_may_write_beside_its_transaction",
        r"an open transaction: error is NONE",
        "The broker acknowledges a plain batch of a producer with an open transaction.",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.INVALID_TXN_STATE, NONE, asked=of_client("TXN-035")),
    changed_field("TXN-036", "every_timeout_is_the_default",
        r"Empty: \(state, id, epoch, timeout\) is",
        "DescribeTransactions returns the default timeout.",
        DescribeTransactionsResponse, "transaction_states.transaction_timeout_ms",
        34_567, TIMEOUT_MS),
    changed_field("TXN-036", "a_transaction_has_no_partitions",
        r"Ongoing: the partitions are \{\}|described are ",
        "DescribeTransactions returns no partitions.",
        DescribeTransactionsResponse, "transaction_states.topics",
        ANY, [],
        asked=of_client("TXN-036")),
    changed_field("TXN-036", "every_id_is_known",
        r"an unknown id: error is NONE",
        "DescribeTransactions returns no error for an id that no producer has.",
        DescribeTransactionsResponse, "transaction_states.error_code",
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, NONE, asked=of_client("TXN-036")),
    transactions_of_all_states_are_listed,
    transactions_of_all_producers_are_listed,
    transactions_of_any_duration_are_listed,
    unknown_filters_are_not_returned,
    a_marker_is_always_a_commit,
    a_former_coordinator_may_write,
    replace(
        changed_field("TXN-040", "transactional_ids_stay",
            r"an idle id: error is (INVALID_PRODUCER_EPOCH|PRODUCER_FENCED)",
            "The broker keeps a transactional id without activity.",
            AddPartitionsToTxnResponse,
            "results_by_topic_v3_and_below.results_by_partition.partition_error_code",
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH,
            asked=of_client("TXN-040")),
        private=True,
    ),
]  # fmt: skip
