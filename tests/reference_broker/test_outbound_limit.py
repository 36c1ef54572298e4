"""Clients that do not read cost other clients nothing."""

from harness.reference_broker.outbound_limit import OutboundLimit


class Reader:
    """Counts its drops."""

    def __init__(self) -> None:
        self.aborted = 0

    def abort(self) -> None:
        self.aborted += 1


def test_who_is_slow_for_the_longest_time_is_dropped_when_there_is_too_much() -> None:
    untaken = OutboundLimit(100)
    first, second, third = Reader(), Reader(), Reader()
    untaken.wait_for(first, 60)
    untaken.wait_for(second, 40)
    untaken.leave(first)  # it has read, and is slow again
    untaken.wait_for(first, 60)
    untaken.wait_for(third, 40)
    assert (first.aborted, second.aborted, third.aborted) == (0, 1, 0)
    untaken.leave(second)  # its connection is lost
    untaken.wait_for(Reader(), 1)
    assert first.aborted == 1


def test_one_answer_may_be_larger_than_all() -> None:
    reader = Reader()
    OutboundLimit(100).wait_for(reader, 1_000)
    assert not reader.aborted
