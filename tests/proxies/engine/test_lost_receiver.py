"""Many small pieces are due at once, and their receiver has gone away."""

from __future__ import annotations

import asyncio

from harness.proxies.counters import Traffic
from harness.proxies.outgoing_stream import ProxyStream
from harness.proxies.toxics.chain import Chain
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.slicer import Slicer

PIECES = 1000


class LostAfterOne(asyncio.Transport):
    """A transport that loses its peer at the first write; the loop reports it on its next turn."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes += 1

    def is_closing(self) -> bool:
        return self.writes > 0


class NoMarks:
    def reached_end(self) -> None: ...

    def reached_close(self) -> None: ...

    def reached_reset(self) -> None: ...


def test_stream_stops_writing_to_closing_transport() -> None:
    """asyncio would report each such write on standard error."""

    def sliced() -> Chain:
        return Chain(lambda _name, _nth: 0.0, 0.0, [NamedToxic.of(Slicer(average_size=1))])

    way = ProxyStream(NoMarks(), sliced, lambda: 0.0, Traffic())
    way.transport = gone = LostAfterOne()
    way.chain = sliced()
    way.forward(b"x" * PIECES)
    assert gone.writes == 1
