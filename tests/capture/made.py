"""Captures made by hand: a conversation of our own messages as TCP segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from pathlib import Path

from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapWriter

from harness.capture.segment import ACK, FIN, SYN, SocketAddress, TcpSegment
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.structs import Message

CLIENT = SocketAddress(b"\x7f\0\0\1", 40000)
BROKER = SocketAddress(b"\x7f\0\0\1", 9092)
MILLISECOND_NS = 1_000_000


class Conversation:
    """Writes segments as two ends would send them, in order; ``segments`` is the capture."""

    def __init__(
        self, client: SocketAddress = CLIENT, broker: SocketAddress = BROKER, first_seq: int = 1000
    ) -> None:
        self.client, self.broker = client, broker
        self._seq = {client: first_seq, broker: (first_seq * 7) % 2**32}
        self._time_ns = 0
        self.segments: list[TcpSegment] = []

    def _add(
        self, source: SocketAddress, flags: int, payload: bytes = b"", length: int = 0
    ) -> None:
        other = self.broker if source == self.client else self.client
        self._time_ns += MILLISECOND_NS
        ends = (source, other)
        numbers = (self._seq[source], self._seq[other])
        self.segments.append(TcpSegment(self._time_ns, *ends, *numbers, flags, payload, 0))
        self._seq[source] = (self._seq[source] + len(payload) + length) % 2**32

    def open(self) -> Conversation:
        """SYN, SYN and ACK, ACK."""
        self._add(self.client, SYN, length=1)
        self._add(self.broker, SYN | ACK, length=1)
        self._add(self.client, ACK)
        return self

    def send(self, source: SocketAddress, data: bytes, at_most: int = 1400) -> Conversation:
        """Bytes from one end, in segments; the other end confirms each."""
        other = self.broker if source == self.client else self.client
        for start in range(0, len(data), at_most):
            self._add(source, ACK, data[start : start + at_most])
            self._add(other, ACK)
        return self

    def request(self, message: Message, version: int, number: int, name: str = "c") -> Conversation:
        """A request from the client."""
        return self.send(self.client, frame(encode_request(message, version, number, name)))

    def response(self, message: Message, version: int, number: int) -> Conversation:
        """A response from the broker."""
        return self.send(self.broker, frame(encode_response(message, version, number)))

    def close(self) -> Conversation:
        """A FIN from both, and the last ACK."""
        self._add(self.client, FIN | ACK, length=1)
        self._add(self.broker, FIN | ACK, length=1)
        self._add(self.client, ACK)
        return self


def cut_up(segments: Iterable[TcpSegment], at_most: int) -> list[TcpSegment]:
    """The same bytes in smaller segments."""
    found: list[TcpSegment] = []
    for segment in segments:
        if len(segment.payload) <= at_most:
            found.append(segment)
            continue
        for start in range(0, len(segment.payload), at_most):
            part = segment.payload[start : start + at_most]
            found.append(segment._replace(seq=(segment.seq + start) % 2**32, payload=part))
    return found


def without_syn(segments: Sequence[TcpSegment]) -> list[TcpSegment]:
    """As captured from the middle: no SYN."""
    return [segment for segment in segments if not segment.flags & SYN]


def write_pcap(segments: Iterable[TcpSegment], file: Path) -> Path:
    """As tcpdump would have recorded them: Ethernet, IPv4, pcap."""
    with PcapWriter(str(file), linktype=1) as out:
        for segment in segments:
            packet = as_packet(segment)
            packet.time = segment.time_ns / 1e9
            out.write(packet)
    return file


def as_packet(segment: TcpSegment) -> Packet:
    """By scapy's own layers."""
    tcp = TCP(
        sport=segment.source.port,
        dport=segment.destination.port,
        seq=segment.seq,
        ack=segment.ack,
        flags=segment.flags,
    )
    ends = [str(ip_address(end.address)) for end in (segment.source, segment.destination)]
    ether = Ether(src="00:00:00:00:00:00", dst="00:00:00:00:00:00")
    if len(segment.source.address) == 4:
        return ether / IP(src=ends[0], dst=ends[1]) / tcp / Raw(segment.payload)
    return ether / IPv6(src=ends[0], dst=ends[1]) / tcp / Raw(segment.payload)
