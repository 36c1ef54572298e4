"""Requests out of bytes, however they were cut; and shared memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec.frame import frame
from harness.reference_broker.request_buffer import FrameRefused, RequestBuffer
from harness.reference_broker.request_memory import RequestMemory


@given(
    requests=st.lists(st.binary(max_size=40) | st.just(b"x" * 100_000), max_size=8),
    cuts=st.lists(st.integers(0, 300_000), max_size=12),
)
def test_requests_are_complete_for_each_split_of_stream(
    requests: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(map(frame, requests))
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    buffer, found = RequestBuffer(200_000), []
    for begin, end in pairwise(places):
        buffer.append(stream[begin:end])
        while (request := buffer.next_request()) is not None:
            found.append(request)
    assert found == requests
    assert buffer.size_bytes == 0


@pytest.mark.parametrize("length", [-1, 101])
def test_illegal_length_is_refused_before_payload_arrives(length: int) -> None:
    buffer = RequestBuffer(100)
    buffer.append(length.to_bytes(4, "big", signed=True))
    with pytest.raises(FrameRefused, match=str(length)):
        buffer.next_request()


def asking(memory: RequestMemory, size: int, given_to: list[int]) -> Callable[[], None]:
    """A function that asks for memory again when it is called."""

    def resume() -> None:
        if memory.take(size, resume):
            given_to.append(size)

    return resume


def test_released_memory_is_granted_in_order_of_waiting() -> None:
    memory, given_to = RequestMemory(10), list[int]()
    for size in (10, 1, 2, 3):
        asking(memory, size, given_to)()
    assert given_to == [10]
    memory.give_back(10)
    assert given_to == [10, 1, 2, 3]
    assert memory.left_bytes == 4


def test_waiter_that_left_is_not_resumed() -> None:
    memory, given_to = RequestMemory(1), list[int]()
    asking(memory, 5, given_to)()
    later = asking(memory, 7, given_to)
    later()
    memory.leave(later)
    memory.give_back(5)
    assert given_to == [5]
    assert memory.left_bytes == 1
