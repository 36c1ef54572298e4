"""Clients that do not read cost other clients nothing."""

from harness.reference_broker.outbound_limit import OutboundLimit


class Reader:
    """Counts its drops."""

    def __init__(self) -> None:
        self.aborted = 0

    def abort(self) -> None:
        self.aborted += 1


def test_longest_waiting_client_is_dropped_above_outbound_limit() -> None:
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


def test_single_response_may_exceed_outbound_limit() -> None:
    reader = Reader()
    OutboundLimit(100).wait_for(reader, 1_000)
    assert not reader.aborted
