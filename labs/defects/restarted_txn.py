"""Defects of a broker that was started again: what it has forgotten of transactional producers."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnResponse,
    DescribeTransactionsResponse,
    FetchResponse,
    WriteTxnMarkersResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.started_again import StartedAgain, after_start
from labs.defects.txn_ends import results_of
from suites.durability import test_transactions_after_restart as of_producers


@after_start("TXN-069", r"an epoch below: error is NONE", partitions=of_producers.MARKED)
def a_start_forgets_coordinators(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker forgets the coordinator epochs of its producers when it starts."""
    if not isinstance(answer, WriteTxnMarkersResponse):
        return
    for marker in answer.markers:
        for topic in marker.topics:
            for one in topic.partitions:
                if one.error_code == ErrorCode.TRANSACTION_COORDINATOR_FENCED:
                    one.error_code = ErrorCode.NONE


@after_start(
    "TXN-064",
    r"after a (stop|kill), the last stable offset is 3",
    partitions=of_producers.OPEN,
)
def a_start_forgets_idle_transactions(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A start forgets the open transactions of producers that have been idle for long."""
    if isinstance(answer, FetchResponse):
        for topic in answer.responses:
            for one in topic.partitions:
                one.last_stable_offset = one.high_watermark


@after_start("TXN-072", r"the expired id: error is", partitions=of_producers.EXPIRED)
def a_start_reads_no_tombstones(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A start brings transactional ids back that have expired."""
    if isinstance(answer, AddPartitionsToTxnResponse):
        for one in results_of(answer):
            if one.partition_index == of_producers.ASKED_AGAIN:
                one.partition_error_code = ErrorCode.INVALID_PRODUCER_EPOCH


@after_start("TXN-074", r"the ids are", partitions=of_producers.DESCRIBED)
def a_start_forgets_timeouts(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The log of the coordinator has no timeouts of transactions."""
    if isinstance(answer, DescribeTransactionsResponse):
        for one in answer.transaction_states:
            one.transaction_timeout_ms = 0


DEFECTS = [
    replace(made, private=True)
    for made in (
        a_start_forgets_coordinators,
        a_start_forgets_idle_transactions,
        a_start_forgets_timeouts,
        a_start_reads_no_tombstones,
    )
]
