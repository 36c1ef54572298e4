"""Connections as a packet capture, written by the process that carried their bytes, without root.

The packets are made up (raw IP, as many segments as the length field of IP asks for); addresses,
bytes, order and times are real. Wireshark and :mod:`harness.capture.follow` read them.
"""

from __future__ import annotations

import struct
from ipaddress import ip_address
from typing import BinaryIO

from harness.capture.file_forms import FileForm, Pcap
from harness.capture.segment import ACK, FIN, RST, SYN, SocketAddress

_IPV4 = struct.Struct(">BBHHHBBH4s4s")
_IPV6 = struct.Struct(">IHBB16s16s")
_TCP = struct.Struct(">HHIIBBHHH")
_TCP_NUMBER = 6
_PUSH = 0x08
_WINDOW = 65_535
_HOPS = 64
_NO_FRAGMENTS = 0x4000
PAYLOAD_LIMIT_BYTES = 65_000
SEQUENCES = 1 << 32


def endpoint(host: str, port: int) -> SocketAddress:
    """Return the endpoint of a literal address. Raises ValueError for a name."""
    return SocketAddress(ip_address(host).packed, port)


class CaptureWriter:
    """A file, pcap by default, written packet by packet to ``out``, which stays open."""

    def __init__(self, out: BinaryIO, form: FileForm | None = None) -> None:
        self._out, self._form = out, form or Pcap()
        out.write(self._form.head)

    def packet(self, time_ns: int, data: bytes, interface: str = "") -> None:
        """Write a packet, as in :class:`harness.capture.file_forms.FileForm`."""
        self.record(self._form.packet(time_ns, data, interface))

    def record(self, written: bytes) -> None:
        """Write the bytes of a packet, with all that stands before it."""
        self._out.write(written)

    def flush(self) -> None:
        self._out.flush()


class WrittenConnection:
    """One TCP connection in a capture, beginning with its handshake.

    ``opener`` connected to ``accepter``; both are of one IP version, else ValueError.
    ``interface``: what each of its packets names, in a file that has names.
    """

    def __init__(
        self,
        writer: CaptureWriter,
        opener: SocketAddress,
        accepter: SocketAddress,
        time_ns: int,
        interface: str = "",
    ) -> None:
        if len(opener.address) != len(accepter.address):
            raise ValueError(f"{opener} and {accepter} are not of one IP version")
        self._writer, self._interface = writer, interface
        self._other = {opener: accepter, accepter: opener}
        self._next = {opener: 0, accepter: 0}  # sequence numbers
        self._ended: set[SocketAddress] = set()
        self._packet(time_ns, opener, SYN)
        self._packet(time_ns, accepter, SYN | ACK)
        self._packet(time_ns, opener, ACK)

    def sent(self, sender: SocketAddress, data: bytes, time_ns: int) -> None:
        """Write bytes that ``sender`` sent; the other side has them at once."""
        view = memoryview(data)
        for start in range(0, len(view), PAYLOAD_LIMIT_BYTES):
            piece = bytes(view[start : start + PAYLOAD_LIMIT_BYTES])
            self._packet(time_ns, sender, ACK | _PUSH, piece)
        if data:
            self._packet(time_ns, self._other[sender], ACK)

    def ended(self, sender: SocketAddress, time_ns: int, *, reset: bool = False) -> None:
        """Write the end of ``sender``, which sends nothing more; only the first end is written."""
        if sender in self._ended:
            return
        self._ended |= set(self._other) if reset else {sender}
        self._packet(time_ns, sender, (RST if reset else FIN) | ACK)
        if not reset:
            self._packet(time_ns, self._other[sender], ACK)

    def _packet(
        self, time_ns: int, sender: SocketAddress, flags: int, payload: bytes = b""
    ) -> None:
        receiver = self._other[sender]
        seq, ack = self._next[sender], self._next[receiver] if flags & ACK else 0
        segment = _tcp(sender, receiver, (seq, ack), flags, payload)
        self._writer.packet(time_ns, _ip(sender, receiver, segment), self._interface)
        taken = len(payload) + bool(flags & (SYN | FIN))  # SYN and FIN count like a byte each
        self._next[sender] = (seq + taken) % SEQUENCES


def _tcp(
    sender: SocketAddress,
    receiver: SocketAddress,
    numbers: tuple[int, int],
    flags: int,
    payload: bytes,
) -> bytes:
    def made(checksum: int) -> bytes:
        ports = (sender.port, receiver.port)
        return _TCP.pack(*ports, *numbers, 5 << 4, flags, _WINDOW, checksum, 0) + payload

    plain = made(0)
    pseudo = sender.address + receiver.address + struct.pack(">II", _TCP_NUMBER, len(plain))
    return made(_checksum(pseudo + plain))


def _ip(sender: SocketAddress, receiver: SocketAddress, segment: bytes) -> bytes:
    if len(sender.address) == 16:
        about = (6 << 28, len(segment), _TCP_NUMBER, _HOPS)
        return _IPV6.pack(*about, sender.address, receiver.address) + segment

    def head(checksum: int) -> bytes:
        length = _IPV4.size + len(segment)
        about = (0x45, 0, length, 0, _NO_FRAGMENTS, _HOPS, _TCP_NUMBER, checksum)
        return _IPV4.pack(*about, sender.address, receiver.address)

    return head(_checksum(head(0))) + segment


def _checksum(data: bytes) -> int:
    """RFC 1071: the ones' complement of the sum of 16-bit words.

    With the carry added again that sum is the data as one number, modulo 0xFFFF.
    """
    number = int.from_bytes(data) << 8 * (len(data) % 2)
    total = number % 0xFFFF or (0xFFFF if number else 0)
    return ~total & 0xFFFF
