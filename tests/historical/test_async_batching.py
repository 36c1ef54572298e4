"""The queue of an asynchronous producer, with a clock that the test moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.async_batching import AsyncBatching
from labs.message_values.values import QUICK


@QUICK
@given(
    st.integers(1, 5),
    st.integers(0, 50),
    st.lists(st.integers(0, 40), max_size=30),
)
def test_async_batches_keep_order_size_limit_and_deadline(
    batch_size: int, queue_time_ms: int, pauses_ms: list[int]
) -> None:
    batching: AsyncBatching[tuple[int, int]] = AsyncBatching(batch_size, queue_time_ms)
    batches: list[tuple[int, list[tuple[int, int]]]] = []
    events = []
    now_ms = 0
    for number, pause_ms in enumerate(pauses_ms):
        now_ms += pause_ms
        while (due_at_ms := batching.due_at_ms) is not None and due_at_ms <= now_ms:
            batches.append((due_at_ms, batching.expire(due_at_ms)))
        events.append((number, now_ms))
        batches.append((now_ms, batching.add(events[-1], now_ms)))
    batches.append((now_ms, batching.close()))
    assert [event for _, batch in batches for event in batch] == events
    for sent_at_ms, batch in batches:
        assert len(batch) <= batch_size
        assert all(sent_at_ms - queued_ms <= queue_time_ms for _, queued_ms in batch)
    assert batching.due_at_ms is None


@pytest.mark.parametrize(("size", "time_ms"), [(0, 1), (1, -1)])
def test_invalid_batch_size_or_queue_time_raises_value_error(size: int, time_ms: int) -> None:
    with pytest.raises(ValueError, match="batches of"):
        AsyncBatching(size, time_ms)
