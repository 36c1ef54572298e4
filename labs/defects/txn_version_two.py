"""Defects of area TXN: partitions that Produce adds, and epochs that each end raises (KIP-890)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitResponse,
)
from harness.codec.records import RecordBatch, decode_batches, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.client_requests import takes_from_client
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from, of_client

NONE, FENCED = ErrorCode.NONE, ErrorCode.INVALID_PRODUCER_EPOCH
FIRST_WITH_NEW_EPOCH, NEWER_ENDS, NEWER_BATCHES = 5, range(5, 99), range(12, 99)
LATE = "a late batch"


@takes_from_client("TXN-014", r"after the commit: committed are \[\]")
def implicit_partitions_are_aborted(request: EndTxnRequest) -> None:
    """The broker aborts what was written to partitions that no client has added."""
    request.committed = False


@takes_from_client("TXN-014", r"after the abort: committed are \[b'x'\]")
def implicit_partitions_are_committed(request: EndTxnRequest) -> None:
    """The broker commits what was written to partitions that no client has added."""
    request.committed = True


@answers("TXN-014", r"\(state, partitions\) is \('Ongoing', \{\}\)", asked=of_client("TXN-014"))
def implicit_partitions_are_not_described(answer: DescribeTransactionsResponse) -> None:
    """DescribeTransactions leaves out partitions that no client has added."""
    for one in answer.transaction_states:
        one.topics = []


@answers("TXN-015", r"epoch 0, commit: id and epoch are \(\d+, 0\)", NEWER_ENDS,
         asked=of_client("TXN-015"))  # fmt: skip
def a_newer_end_returns_the_same_epoch(answer: EndTxnResponse) -> None:
    """The broker returns the epoch of the transaction that has ended."""
    if answer.error_code == NONE:
        answer.producer_epoch -= 1


@answers("TXN-015", r"epoch 1, abort: id and epoch are \(\d+, 1\)", NEWER_ENDS,
         asked=of_client("TXN-015"))  # fmt: skip
def a_newer_abort_returns_the_same_epoch(request: EndTxnRequest, answer: EndTxnResponse) -> None:
    """The broker raises the epoch with a commit alone."""
    if answer.error_code == NONE and not request.committed:
        answer.producer_epoch -= 1


def _epochs(request: ProduceRequest) -> set[int]:
    data = [one.records for topic in request.topic_data for one in topic.partition_data]
    return {batch.producer_epoch for each in data for batch in decode_batches(bytes(each or b""))}


def _refuse(answer: ProduceResponse) -> None:
    for topic in answer.responses:
        for one in topic.partition_responses:
            if one.error_code == NONE:
                one.error_code, one.base_offset = FENCED, -1


@answers("TXN-015", r"epoch 1, abort, the batch: error is INVALID_PRODUCER_EPOCH",
         asked=of_client("TXN-015"))  # fmt: skip
def the_next_epoch_is_not_known(request: ProduceRequest, answer: ProduceResponse) -> None:
    """The broker refuses batches with the epoch that an end has returned."""
    if max(_epochs(request), default=0) > 0:
        _refuse(answer)


class AnOlderEndRaisesTheEpoch(FrameRule):
    """The broker raises the epoch also with an EndTxn that cannot return it."""

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not is_from(seen, "TXN-015"):
            return [payload]
        if isinstance(request, EndTxnRequest) and seen.version < FIRST_WITH_NEW_EPOCH:
            self._ended.add(request.transactional_id)
        if isinstance(request, AddPartitionsToTxnRequest):
            return [edited(seen, payload, self._edit)]
        return [payload]

    def _edit(self, seen: SeenRequest, answer: AddPartitionsToTxnResponse) -> None:
        assert isinstance(seen.message, AddPartitionsToTxnRequest)
        if seen.message.v3_and_below_transactional_id not in self._ended:
            return
        for topic in answer.results_by_topic_v3_and_below:
            for one in topic.results_by_partition:
                one.partition_error_code = ErrorCode.PRODUCER_FENCED


class LateBatchesEnterTheNextTransaction(FrameRule):
    """The broker appends a batch of the former epoch with the next one, and returns an error."""

    def __init__(self) -> None:
        self._current: dict[int, int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, ProduceRequest) or not is_from(seen, "TXN-016"):
            return seen.payload
        for topic in request.topic_data:
            for one in topic.partition_data:
                batches = decode_batches(bytes(one.records or b""))
                if any(self._is_late(batch) for batch in batches):
                    seen.notes[LATE] = True
                    one.records = b"".join(map(self._in_next, batches))
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if LATE in seen.notes or isinstance(seen.message, EndTxnRequest):
            return [edited(seen, payload, self._edit)]
        return [payload]

    def _edit(self, seen: SeenRequest, answer: EndTxnResponse | ProduceResponse) -> None:
        if isinstance(answer, ProduceResponse):
            _refuse(answer)
        elif answer.error_code == NONE and is_from(seen, "TXN-016"):
            self._current[answer.producer_id] = answer.producer_epoch

    def _is_late(self, batch: RecordBatch) -> bool:
        return batch.producer_epoch < self._current.get(batch.producer_id, 0)

    def _in_next(self, batch: RecordBatch) -> bytes:
        epoch = self._current[batch.producer_id]
        return encode_batch(replace(batch, producer_epoch=epoch, base_sequence=0, crc=None))


class LateEndsEndTheNextTransaction(FrameRule):
    """The broker ends the next transaction by an EndTxn of the former one (KAFKA-17754)."""

    def __init__(self) -> None:
        self._current: dict[int, int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, EndTxnRequest) or not is_from(seen, "TXN-062"):
            return seen.payload
        current = self._current.get(request.producer_id, request.producer_epoch)
        if request.producer_epoch < current:
            seen.notes[LATE] = True
            request.producer_epoch = current
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, EndTxnRequest) and is_from(seen, "TXN-062"):
            return [edited(seen, payload, self._edit)]
        return [payload]

    def _edit(self, seen: SeenRequest, answer: EndTxnResponse) -> None:
        if answer.error_code == NONE and LATE not in seen.notes:
            self._current[answer.producer_id] = answer.producer_epoch


class LateEndsEndTheNextTransactionSilently(LateEndsEndTheNextTransaction):
    """The broker ends the next transaction by a late EndTxn, and returns an error."""

    def _edit(self, seen: SeenRequest, answer: EndTxnResponse) -> None:
        super()._edit(seen, answer)
        if LATE in seen.notes:
            answer.error_code = ErrorCode.PRODUCER_FENCED
            answer.producer_id = answer.producer_epoch = -1


@answers("TXN-016", r"a late AddPartitionsToTxn.*: error is NONE", asked=of_client("TXN-016"))
def a_former_epoch_may_add(answer: AddPartitionsToTxnResponse) -> None:
    """The broker adds a partition for the former epoch."""
    for topic in answer.results_by_topic_v3_and_below:
        for one in topic.results_by_partition:
            if one.partition_error_code in (FENCED, ErrorCode.PRODUCER_FENCED):
                one.partition_error_code = NONE


DEFECTS = [
    changed_field("TXN-014", "a_newer_batch_adds_no_partition",
        r"partition 1 without AddPartitionsToTxn: error is TRANSACTION_ABORTABLE",
        "The broker refuses a newer batch for a partition that no client has added.",
        ProduceResponse, "responses.partition_responses.error_code",
        NONE, ErrorCode.TRANSACTION_ABORTABLE, NEWER_BATCHES, asked=of_client("TXN-014")),
    implicit_partitions_are_not_described,
    implicit_partitions_are_aborted,
    implicit_partitions_are_committed,
    a_newer_end_returns_the_same_epoch,
    a_newer_abort_returns_the_same_epoch,
    the_next_epoch_is_not_known,
    rule("TXN-015", r"older transaction 1, .*: error is PRODUCER_FENCED", AnOlderEndRaisesTheEpoch),
    changed_field("TXN-016", "late_batches_are_acknowledged",
        r"a late batch (after|within) the [a-z ]+: error is NONE",
        "The broker acknowledges a batch of the former epoch.",
        ProduceResponse, "responses.partition_responses.error_code",
        FENCED, NONE, asked=of_client("TXN-016")),
    rule("TXN-016", r"a late batch after the end: the log ends at 3, expected 2",
         LateBatchesEnterTheNextTransaction),
    rule("TXN-062", r"a late (commit|abort): error is NONE", LateEndsEndTheNextTransaction),
    rule("TXN-062", r"after the late end: \(state, partitions\) is \('Complete\w+', \{\}\)",
         LateEndsEndTheNextTransactionSilently),
    a_former_epoch_may_add,
    changed_field("TXN-016", "a_former_epoch_may_commit_offsets",
        r"a late TxnOffsetCommit.*: error is NONE",
        "The broker accepts offsets of the former epoch.",
        TxnOffsetCommitResponse, "topics.partitions.error_code",
        frozenset({FENCED, ErrorCode.PRODUCER_FENCED}), NONE, asked=of_client("TXN-016")),
]  # fmt: skip
