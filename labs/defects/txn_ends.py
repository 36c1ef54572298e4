"""Defects of area TXN: beginnings and ends of transactions."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from, of_client

NONE, CONCURRENT = ErrorCode.NONE, ErrorCode.CONCURRENT_TRANSACTIONS
UNMAPPED, WRONG_STATE = ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_TXN_STATE
FENCED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
FAR_PARTITION, ADDED = 77, "added anyway"
PartitionResult = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult


def results_of(answer: AddPartitionsToTxnResponse) -> list[PartitionResult]:
    """The results of all partitions, in either form of the answer."""
    topics = list(answer.results_by_topic_v3_and_below)
    for transaction in answer.results_by_transaction:
        topics += transaction.topic_results
    return [one for topic in topics for one in topic.results_by_partition]


def _topics(
    request: AddPartitionsToTxnRequest,
) -> list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic]:
    topics = list(request.v3_and_below_topics)
    for transaction in request.transactions:
        topics += transaction.topics
    return topics


@answers("TXN-004", r"the first answer: error is NONE", asked=of_client("TXN-004"))
def an_open_transaction_is_no_hindrance(answer: InitProducerIdResponse) -> None:
    """The broker returns a producer id while the former transaction is being aborted."""
    if answer.error_code == CONCURRENT:
        answer.error_code, answer.producer_id, answer.producer_epoch = NONE, 7, 0


@answers("TXN-004", r"commit by the former producer: error is NONE", asked=of_client("TXN-004"))
def a_replaced_producer_may_commit(answer: EndTxnResponse) -> None:
    """The broker accepts a commit of the producer that a new one has replaced."""
    if answer.error_code in FENCED:
        answer.error_code = NONE


class EpochsGoOnForEver(FrameRule):
    """The broker goes on with the epochs of a producer id behind the last one."""

    def __init__(self) -> None:
        self._first: dict[str | None, int] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, InitProducerIdRequest) or not is_from(seen, "TXN-006"):
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, answer: InitProducerIdResponse) -> None:
        assert isinstance(seen.message, InitProducerIdRequest)
        first = self._first.setdefault(seen.message.transactional_id, answer.producer_id)
        if answer.producer_id != first:
            answer.producer_id, answer.producer_epoch = first, 2**15 - 1


@answers(
    "TXN-008",
    r"(an unknown id|a producer id of \w+( \w+)?|wrong id and epoch), .*error is NONE",
    asked=of_client("TXN-008"),
)
def any_producer_id_may_add(answer: AddPartitionsToTxnResponse) -> None:
    """The broker adds partitions to the transaction of any producer id."""
    for one in results_of(answer):
        if one.partition_error_code == UNMAPPED:
            one.partition_error_code = NONE


@answers(
    "TXN-008", r"(the epoch before|an epoch to come), .*error is NONE", asked=of_client("TXN-008")
)
def any_epoch_may_add(answer: AddPartitionsToTxnResponse) -> None:
    """The broker adds partitions to a transaction at any epoch."""
    for one in results_of(answer):
        if one.partition_error_code in FENCED:
            one.partition_error_code = NONE


class APartitionIsAddedOnce(FrameRule):
    """The broker refuses a partition that the transaction has already."""

    def __init__(self) -> None:
        self._added: set[tuple[str, int]] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, AddPartitionsToTxnRequest) or not is_from(seen, "TXN-009"):
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, answer: AddPartitionsToTxnResponse) -> None:
        assert isinstance(seen.message, AddPartitionsToTxnRequest)
        places = {(one.name, at) for one in _topics(seen.message) for at in one.partitions}
        if places <= self._added:
            for result in results_of(answer):
                result.partition_error_code = WRONG_STATE
        elif all(one.partition_error_code == NONE for one in results_of(answer)):
            self._added |= places


@answers(
    "TXN-011",
    r"error is NONE \(0\), expected OPERATION_NOT_ATTEMPTED",
    asked=of_client("TXN-011"),
)
def good_partitions_have_no_error(answer: AddPartitionsToTxnResponse) -> None:
    """The broker returns NONE for the good partitions beside an unknown one."""
    for one in results_of(answer):
        if one.partition_error_code == ErrorCode.OPERATION_NOT_ATTEMPTED:
            one.partition_error_code = NONE


class GoodPartitionsAreAddedAnyway(FrameRule):
    """The broker adds the good partitions beside an unknown one, and returns errors for all."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, AddPartitionsToTxnRequest) or not is_from(seen, "TXN-011"):
            return seen.payload
        for topic in _topics(request):
            if FAR_PARTITION in topic.partitions:
                topic.partitions.remove(FAR_PARTITION)
                seen.notes[ADDED] = True
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [edited(seen, payload, self._edit)] if ADDED in seen.notes else [payload]

    def _edit(self, seen: SeenRequest, answer: AddPartitionsToTxnResponse) -> None:
        results = results_of(answer)
        if any(one.partition_error_code == CONCURRENT for one in results):
            return
        for one in results:
            one.partition_error_code = ErrorCode.OPERATION_NOT_ATTEMPTED
        topics = list(answer.results_by_topic_v3_and_below)
        for transaction in answer.results_by_transaction:
            topics += transaction.topic_results
        topics[0].results_by_partition.append(
            PartitionResult(
                partition_index=FAR_PARTITION,
                partition_error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            )
        )


class _EndsSentAgain(FrameRule):
    """Edit the answer to an EndTxn that was answered with success before."""

    def __init__(self) -> None:
        self._ended: set[tuple[str, int, bool]] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, EndTxnRequest) or not is_from(seen, "TXN-017"):
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, answer: EndTxnResponse) -> None:
        request = seen.message
        assert isinstance(request, EndTxnRequest)
        end = (request.transactional_id, request.producer_epoch, request.committed)
        if end in self._ended:
            self.edit_again(answer)
        elif answer.error_code == NONE:
            self._ended.add(end)

    def edit_again(self, answer: EndTxnResponse) -> None:
        """Change the answer in place."""
        raise NotImplementedError


class ATransactionEndsOnce(_EndsSentAgain):
    """The broker refuses an EndTxn that is sent again."""

    def edit_again(self, answer: EndTxnResponse) -> None:
        answer.error_code, answer.producer_id, answer.producer_epoch = WRONG_STATE, -1, -1


class EachEndRaisesTheEpoch(_EndsSentAgain):
    """The broker returns another epoch for an EndTxn that is sent again."""

    def edit_again(self, answer: EndTxnResponse) -> None:
        answer.producer_epoch += answer.producer_epoch >= 0


@answers("TXN-017", r"the opposite of \w+: error is NONE", asked=of_client("TXN-017"))
def an_ended_transaction_may_end_otherwise(answer: EndTxnResponse) -> None:
    """The broker accepts a commit after an abort, and an abort after a commit."""
    if answer.error_code == WRONG_STATE:
        answer.error_code = NONE


@answers("TXN-018", r"an empty (commit|abort): error is NONE", asked=of_client("TXN-018"))
def no_transaction_may_end(answer: EndTxnResponse) -> None:
    """The broker accepts an EndTxn without a transaction."""
    if answer.error_code == WRONG_STATE:
        answer.error_code = NONE


@answers(
    "TXN-018",
    r"an empty abort: id and epoch are \(\d+, 0\)",
    range(5, 99),
    asked=of_client("TXN-018"),
)
def an_empty_abort_keeps_the_epoch(request: EndTxnRequest, answer: EndTxnResponse) -> None:
    """The broker returns the same epoch for an abort without a transaction."""
    if not request.committed and answer.error_code == NONE:
        answer.producer_epoch -= 1


@answers(
    "TXN-019",
    r"(an unknown id|a producer id of \w+( \w+)?), \w+: error is NONE",
    asked=of_client("TXN-019"),
)
def any_producer_id_may_end(answer: EndTxnResponse) -> None:
    """The broker accepts an EndTxn of any producer id."""
    if answer.error_code == UNMAPPED:
        answer.error_code = NONE


@answers("TXN-019", r"the (first epoch|epoch before), \w+: error is NONE",
         asked=of_client("TXN-019"))  # fmt: skip
def a_former_epoch_may_end(answer: EndTxnResponse) -> None:
    """The broker accepts an EndTxn of a producer that later ones have replaced."""
    if answer.error_code in FENCED:
        answer.error_code = NONE


@answers("TXN-043", r"epoch \d+, the current one is 0: error is NONE", asked=of_client("TXN-043"))
def an_epoch_to_come_may_end(answer: EndTxnResponse) -> None:
    """The broker accepts an EndTxn with an epoch above the current one (KAFKA-9600)."""
    if answer.error_code in FENCED:
        answer.error_code = NONE


DEFECTS = [
    an_open_transaction_is_no_hindrance,
    a_replaced_producer_may_commit,
    rule("TXN-006", r"behind epoch 32766: producer id \d+ has epoch 32767", EpochsGoOnForEver),
    any_producer_id_may_add,
    any_epoch_may_add,
    rule("TXN-009", r"again, .*: error is INVALID_TXN_STATE", APartitionIsAddedOnce),
    good_partitions_have_no_error,
    rule("TXN-011", r"commit without a transaction: error is NONE|got \[1, 1\] markers",
         GoodPartitionsAreAddedAnyway),
    rule("TXN-017", r"again: error is INVALID_TXN_STATE", ATransactionEndsOnce),
    rule("TXN-017", r"again: id and epoch are \(\d+, 2\)", EachEndRaisesTheEpoch),
    an_ended_transaction_may_end_otherwise,
    no_transaction_may_end,
    an_empty_abort_keeps_the_epoch,
    any_producer_id_may_end,
    a_former_epoch_may_end,
    an_epoch_to_come_may_end,
]  # fmt: skip
