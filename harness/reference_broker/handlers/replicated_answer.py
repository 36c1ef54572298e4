"""The answer to a produce with acks=all, which waits for the replicas.

Source: class DelayedProduce.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, PurgatoryWait, RequestContext
from harness.reference_broker.state.partition.partition import Partition


class AwaitedPartition(NamedTuple):
    """A result that holds when all replicas in sync have everything below `required`."""

    result: ProduceResponse.PartitionProduceResponse
    partition: Partition
    required: Offset


def replicated_answer(
    answer: ProduceResponse,
    awaited: Sequence[AwaitedPartition],
    timeout_ms: int,
    context: RequestContext,
) -> Outcome:
    """Answer now if all is replicated, else wait for it.

    Records that are not replicated in time get REQUEST_TIMED_OUT and stay in the log.
    """
    left = _unsettled(awaited)
    if not left:
        return Answer(answer)

    def attempt() -> ProduceResponse | None:
        left[:] = _unsettled(left)
        return None if left else answer

    def at_deadline() -> ProduceResponse:
        for one in _unsettled(left):
            _fail(one.result, ErrorCode.REQUEST_TIMED_OUT)
        return answer

    keys = frozenset((one.partition.topic_id, one.partition.index) for one in left)
    return PurgatoryWait(keys, TimeMs(context.now() + timeout_ms), attempt, at_deadline)


def _unsettled(awaited: Sequence[AwaitedPartition]) -> list[AwaitedPartition]:
    """Return those that still wait; the others get their result."""
    left = []
    for one in awaited:
        outcome = one.partition.replicated(one.required)
        if outcome is None:
            left.append(one)
        elif outcome is not ErrorCode.NONE:
            _fail(one.result, outcome)
    return left


def _fail(result: ProduceResponse.PartitionProduceResponse, error: ErrorCode) -> None:
    """Set the error; the result still has the offset of the records."""
    result.error_code = error
