"""The formats of a capture file: pcap, or pcapng, in which every packet names its interface.

Times have nanoseconds; packets are raw IP. Sources: pcap-savefile(5) and the IETF drafts
draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from typing import Protocol

RAW_IP = 101
SNAP_BYTES = 0x40000
_SECOND_NS = 1_000_000_000
_PCAP_NANOSECONDS = 0xA1B23C4D
_PCAP_HEAD = struct.Struct("=IHHiIII")
_PCAP_PACKET = struct.Struct("=IIII")

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_NAME, _RESOLUTION, _NO_MORE = 2, 9, 0
_WORD = struct.Struct("=I")
_BLOCK = struct.Struct("=II")
_SECTION_HEAD = struct.Struct("=IHHq")
_INTERFACE_HEAD = struct.Struct("=HHI")
_OPTION = struct.Struct("=HH")
_PACKET_HEAD = struct.Struct("=IIIII")


class FileForm(Protocol):
    """``head`` begins the file. A form remembers the interfaces that it described: one a file."""

    head: bytes

    def packet(self, time_ns: int, data: bytes, interface: str) -> bytes:
        """Return a packet as bytes of the file.

        ``time_ns``: since 1970, UTC. ``interface``: of the packet, for a format that names it.
        """


class Pcap:
    """The pcap format, without names of interfaces."""

    head = _PCAP_HEAD.pack(_PCAP_NANOSECONDS, 2, 4, 0, 0, SNAP_BYTES, RAW_IP)

    def packet(self, time_ns: int, data: bytes, interface: str) -> bytes:  # noqa: ARG002
        seconds, rest = divmod(time_ns, _SECOND_NS)
        return _PCAP_PACKET.pack(seconds, rest, len(data), len(data)) + data


class Pcapng:
    """The pcapng format: an interface is described before its first packet."""

    def __init__(self) -> None:
        # A section of unknown length: it lasts until the end of the file.
        self.head = _block(_SECTION, _SECTION_HEAD.pack(_BYTE_ORDER, 1, 0, -1))
        self._numbers: dict[str, int] = {}

    def packet(self, time_ns: int, data: bytes, interface: str) -> bytes:
        before = b""
        number = self._numbers.get(interface)
        if number is None:
            number = self._numbers[interface] = len(self._numbers)
            before = _described(interface)
        high, low = time_ns >> 32, time_ns & 0xFFFF_FFFF
        head = _PACKET_HEAD.pack(number, high, low, len(data), len(data))
        return before + _block(_PACKET, head + _padded(data))


def _described(interface: str) -> bytes:
    options = _option(_NAME, interface.encode()) if interface else b""
    options += _option(_RESOLUTION, b"\x09") + _option(_NO_MORE, b"")  # 10 ** -9 s
    return _block(_INTERFACE, _INTERFACE_HEAD.pack(RAW_IP, 0, SNAP_BYTES) + options)


def _option(code: int, value: bytes) -> bytes:
    return _OPTION.pack(code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    size = _BLOCK.size + len(body) + _WORD.size
    return _BLOCK.pack(kind, size) + body + _WORD.pack(size)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
