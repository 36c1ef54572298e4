"""Defects of a cluster: the coordinators of transactions, and leaders of their partitions."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, of_client
from labs.defects.one_node import of_broker, of_cluster

ELSEWHERE, NONE = ErrorCode.NOT_COORDINATOR, ErrorCode.NONE
TRANSACTION, BROKERS = 1, 3


@answers("TXN-007", r"broker \d: error is NONE", asked=of_client("TXN-007"))
def any_broker_gives_an_epoch(answer: InitProducerIdResponse) -> None:
    """Each broker answers InitProducerId of each transactional id."""
    if answer.error_code == ELSEWHERE:
        answer.error_code, answer.producer_id, answer.producer_epoch = NONE, 7, 0


@answers("TXN-007", r"broker \d: error is NONE", asked=of_client("TXN-007"))
def any_broker_adds_partitions(answer: AddPartitionsToTxnResponse) -> None:
    """Each broker answers AddPartitionsToTxn of each transactional id."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            if one.partition_error_code == ELSEWHERE:
                one.partition_error_code = NONE


@answers("TXN-007", r"broker \d: error is NONE", asked=of_client("TXN-007"))
def any_broker_adds_offsets(answer: AddOffsetsToTxnResponse) -> None:
    """Each broker answers AddOffsetsToTxn of each transactional id."""
    if answer.error_code == ELSEWHERE:
        answer.error_code = NONE


@answers("TXN-007", r"broker \d: error is NONE", asked=of_client("TXN-007"))
def any_broker_ends_transactions(answer: EndTxnResponse) -> None:
    """Each broker answers EndTxn of each transactional id."""
    if answer.error_code == ELSEWHERE:
        answer.error_code = NONE


@answers("TXN-073", r"the expired id: error is INVALID_PRODUCER_EPOCH", asked=of_client("TXN-073"))
def the_next_coordinator_reads_no_tombstones(answer: AddPartitionsToTxnResponse) -> None:
    """A new coordinator brings transactional ids back that have expired."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            is_late = one.partition_index == 1  # which is added behind the failover alone
            if is_late and one.partition_error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING:
                one.partition_error_code = ErrorCode.INVALID_PRODUCER_EPOCH


@answers("TXN-021", r"partition \d: the values are", asked=of_client("TXN-021"))
def aborts_at_other_brokers_are_not_listed(answer: FetchResponse) -> None:
    """The leaders of partitions return no aborted transactions."""
    for topic in answer.responses:
        for one in topic.partitions:
            one.aborted_transactions = one.aborted_transactions and []


@answers("TXN-042", r"(before|behind), broker 2: \(error, coordinator\) is", asked=of_broker(2))
def a_broker_has_coordinators_of_its_own(
    request: FindCoordinatorRequest, answer: FindCoordinatorResponse
) -> None:
    """The second broker names another coordinator for each transactional id."""
    if request.key_type == TRANSACTION:
        if answer.coordinators:
            for found in answer.coordinators:
                found.node_id = found.node_id % BROKERS + 1
        else:
            answer.node_id = answer.node_id % BROKERS + 1


@answers("TXN-010", r"a partition with the coordinator: error is NONE", asked=of_client("TXN-010"))
def the_next_transaction_begins_early(answer: AddPartitionsToTxnResponse) -> None:
    """The broker begins a transaction before all markers of the former one are written."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            if one.partition_error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
                one.partition_error_code = NONE


@takes_from_client("TXN-027", r"the prepared one: the markers are")
def a_prepared_transaction_ends_otherwise(request: EndTxnRequest) -> None:
    """A transaction does not end as it was prepared."""
    request.committed = not request.committed


class ANewLeaderKnowsNoAborts(FrameRule):
    """A broker that becomes a leader has no index of aborted transactions."""

    def __init__(self) -> None:
        self._first = ""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, FetchRequest) or not is_from(seen, "TXN-028"):
            return [payload]
        self._first = self._first or str(seen.place.destination)
        if str(seen.place.destination) == self._first:
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, _: SeenRequest, answer: FetchResponse) -> None:
        for topic in answer.responses:
            for one in topic.partitions:
                one.aborted_transactions = one.aborted_transactions and []


DEFECTS = [
    *of_cluster([
        any_broker_gives_an_epoch,
        any_broker_adds_partitions,
        any_broker_adds_offsets,
        any_broker_ends_transactions,
        aborts_at_other_brokers_are_not_listed,
        a_broker_has_coordinators_of_its_own,
    ]),
    *of_cluster(
        [
            the_next_transaction_begins_early,
            a_prepared_transaction_ends_otherwise,
            the_next_coordinator_reads_no_tombstones,
            rule("TXN-028", r"the (new leader|former leader is back): ", ANewLeaderKnowsNoAborts),
        ],
        private=True,
    ),
]  # fmt: skip
