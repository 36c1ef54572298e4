"""Lost packets as TCP shows them to a program: a stall, and then all of it, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import Draw, Due, StreamMarker, Toxic, ToxicState

PACKET_BYTES = 1460
MOST_LOSSES = 15  # after so many in a row a packet arrives, even at probability 1


@dataclass(frozen=True)
class PacketLoss(Toxic):
    """Each packet is lost with ``probability``, each time it is sent again too.

    It is sent again after ``retransmission`` milliseconds, then after twice as long, and so on;
    what came behind it waits. A packet has up to 1460 bytes of one piece; an end is one too.
    """

    type = "packet_loss"
    probability: float = number(at_most=1)
    retransmission: float = number(200)

    def begin(self, draw: Draw) -> PacketLossState:
        return PacketLossState(self, draw)


class PacketLossState(ToxicState[PacketLoss]):
    def data(self, data: bytes, arrived_ms: float) -> Iterator[Due]:
        for start in range(0, len(data), PACKET_BYTES):
            packet = data[start : start + PACKET_BYTES]
            yield Due(packet, arrived_ms + self._stall_ms())

    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterator[Due]:
        yield Due(mark, arrived_ms + self._stall_ms())

    def _stall_ms(self) -> float:
        losses = 0
        while losses < MOST_LOSSES and self.draw() < self.toxic.probability:
            losses += 1
        return self.toxic.retransmission * ((1 << losses) - 1)
