"""Defects of areas TXN and IDEM: the producer id and the epochs of a transactional id."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from, of_client

FENCED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
NO_SUCH_EPOCH = 999
OUTSIDE = (ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE)
CALLS = 2  # accepted before the one that shows the epoch
STALE = 1  # the epoch before, of this id and of another one
OF_ANOTHER_ID = 77  # the epoch beside the producer id of another transactional id


@answers("TXN-001", r"producer id and epoch are \(\d+, 1\)", asked=of_client("TXN-001"))
def epochs_begin_at_1(answer: InitProducerIdResponse) -> None:
    """The first epoch of a transactional id is 1."""
    answer.producer_epoch += answer.producer_id >= 0


@answers("TXN-002", r"the second call.*: id and epoch are \(\d+, 0\)", asked=of_client("TXN-002"))
def the_epoch_stays(answer: InitProducerIdResponse) -> None:
    """The broker returns the same epoch to each producer of a transactional id."""
    answer.producer_epoch = min(answer.producer_epoch, 0)


def _accept(request: InitProducerIdRequest, answer: InitProducerIdResponse) -> None:
    if answer.error_code in FENCED:
        answer.error_code = int(ErrorCode.NONE)
        answer.producer_id, answer.producer_epoch = request.producer_id, request.producer_epoch


@answers("TXN-002", r"the producer of the first call: error is NONE", asked=of_client("TXN-002"))
def the_first_producer_goes_on(
    request: InitProducerIdRequest, answer: InitProducerIdResponse
) -> None:
    """The broker accepts each producer that it knew, whatever the current epoch is."""
    _accept(request, answer)


@answers("TXN-003", r"timeout 0.*: error is NONE")
def a_transaction_may_have_no_time(
    request: InitProducerIdRequest, answer: InitProducerIdResponse
) -> None:
    """The broker accepts a transaction timeout of 0."""
    if request.transaction_timeout_ms == 0:
        answer.error_code, answer.producer_id, answer.producer_epoch = int(ErrorCode.NONE), 7, 0


@answers("TXN-003", r"epoch 3, expected 2", asked=of_client("TXN-003"))
def a_refused_call_raises_the_epoch(answer: InitProducerIdResponse) -> None:
    """The broker raises the epoch before it checks the timeout."""
    answer.producer_epoch += answer.producer_epoch == CALLS


@answers(
    "TXN-005",
    r"(epoch 1, the current one is [23]|another producer id, epoch 1): error is NONE",
    asked=of_client("TXN-005"),
)
def the_epoch_before_is_not_stale(
    request: InitProducerIdRequest, answer: InitProducerIdResponse
) -> None:
    """The broker accepts the epoch before the current one, also if another producer raised it."""
    if request.producer_epoch == STALE:
        _accept(request, answer)


@answers("TXN-005", r"another producer id, epoch \d+: error is NONE", asked=of_client("TXN-005"))
def any_producer_id_is_right(
    request: InitProducerIdRequest, answer: InitProducerIdResponse
) -> None:
    """The broker checks the epoch of an identity and not its producer id."""
    if request.producer_epoch == OF_ANOTHER_ID:
        _accept(request, answer)


def _acknowledge(
    answer: ProduceResponse, *refusals: ErrorCode, partition: int | None = None
) -> None:
    """Turn these errors, of all partitions or of one, into acknowledgements of offset 0."""
    for topic in answer.responses:
        for one in topic.partition_responses:
            if one.error_code in refusals and partition in (None, one.index):
                one.error_code, one.base_offset = int(ErrorCode.NONE), 0


@answers("TXN-012", r"error is NONE \(0\), expected TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
def anyone_may_write_transactions(answer: ProduceResponse) -> None:
    """The broker acknowledges transactional batches of a request without a transactional id."""
    _acknowledge(answer, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


@answers("TXN-013", r"no transaction has the partition: error is NONE")
def no_transaction_is_needed(answer: ProduceResponse) -> None:
    """The broker acknowledges a transactional batch for a partition outside of a transaction."""
    _acknowledge(answer, *OUTSIDE, partition=0)


@answers("TXN-013", r"the transaction has another partition: error is NONE")
def a_transaction_has_every_partition(answer: ProduceResponse) -> None:
    """The broker acknowledges a transactional batch for any partition if a transaction is open."""
    _acknowledge(answer, *OUTSIDE, partition=1)


class AnIdentityCountsOnce(FrameRule):
    """The broker fences a producer that sends its identity again, as after a lost answer."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, InitProducerIdRequest) or not is_from(seen, "IDEM-026"):
            return seen.payload
        identity = (request.producer_id, request.producer_epoch)
        if request.producer_id < 0 or identity not in self._seen:
            self._seen.add(identity)
            return seen.payload
        request.producer_epoch = NO_SUCH_EPOCH
        return with_body(seen, request)


DEFECTS = [
    epochs_begin_at_1,
    the_epoch_stays,
    the_first_producer_goes_on,
    a_transaction_may_have_no_time,
    a_refused_call_raises_the_epoch,
    the_epoch_before_is_not_stale,
    any_producer_id_is_right,
    anyone_may_write_transactions,
    no_transaction_is_needed,
    a_transaction_has_every_partition,
    rule("IDEM-026", r"epoch [01] sent .*: error is (PRODUCER_FENCED|INVALID_PRODUCER_EPOCH)",
         AnIdentityCountsOnce),
]  # fmt: skip
