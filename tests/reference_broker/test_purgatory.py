import asyncio

import pytest

from harness.base.ids import PartitionIndex, TimeMs
from harness.codec.messages import FetchResponse
from harness.codec.structs import Message
from harness.reference_broker.handlers.outcome import PartitionKey, PurgatoryWait
from harness.reference_broker.purgatory import Purgatory
from harness.reference_broker.state.randomness import random_uuid
from tests.reference_broker.state.partition.test_partition import Counting

KEY: PartitionKey = (random_uuid(Counting()), PartitionIndex(0))
EARLY, LATE = FetchResponse(session_id=1), FetchResponse(session_id=2)


def waiting(answers: list[Message | None], deadline: int) -> PurgatoryWait:
    return PurgatoryWait(frozenset({KEY}), TimeMs(deadline), lambda: answers.pop(0), lambda: LATE)


def test_wake_retries_attempt_until_it_succeeds() -> None:
    async def scenario() -> Message | bytes:
        purgatory = Purgatory()
        waiter = purgatory.enter(waiting([None, EARLY], 60_000), TimeMs(0))
        purgatory.wake([KEY])
        assert not waiter.result.done()
        purgatory.wake([KEY])
        purgatory.leave(waiter)
        assert purgatory.watched_keys == 0
        return await waiter.result

    assert asyncio.run(scenario()) is EARLY


def test_deadline_ends_wait_with_late_response() -> None:
    async def scenario() -> Message | bytes:
        return await Purgatory().enter(waiting([], 20), TimeMs(0)).result

    assert asyncio.run(scenario()) is LATE


def test_early_leave_removes_watched_keys_and_timer() -> None:
    async def scenario() -> bool:
        purgatory = Purgatory()
        waiter = purgatory.enter(waiting([], 60_000), TimeMs(0))
        assert purgatory.watched_keys == 1
        purgatory.leave(waiter)
        assert purgatory.watched_keys == 0
        assert waiter.timer is not None
        return waiter.timer.cancelled()

    assert asyncio.run(scenario())


def test_error_in_attempt_fails_request() -> None:
    async def scenario() -> None:
        purgatory = Purgatory()
        waiter = purgatory.enter(waiting([], 60_000), TimeMs(0))
        purgatory.wake([KEY])
        with pytest.raises(IndexError):
            await waiter.result

    asyncio.run(scenario())
