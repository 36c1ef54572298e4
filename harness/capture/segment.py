"""One TCP segment, out of a captured packet of any usual link type.

scapy needs about a third of a millisecond to dissect a packet as far as TCP; these few headers
are therefore read here, some eighty times quicker. scapy's dissection is the judge in the tests.
"""

from __future__ import annotations

import struct
from ipaddress import ip_address
from typing import NamedTuple

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
_TCP = 6
_IPV4, _IPV6 = 0x0800, 0x86DD
_VLAN_TAGS = frozenset({0x8100, 0x88A8, 0x9100})
_FRAGMENT, _AUTHENTICATION = 44, 51
_EXTENSIONS = frozenset({0, 43, 60, _FRAGMENT, _AUTHENTICATION, 135, 139, 140})
_PORTS_TO_FLAGS = struct.Struct(">HHIIBB")

# Link type (the numbers of pcap) -> bytes before the ethertype, bytes before what it names.
_WITH_ETHERTYPE = {1: (12, 14), 113: (14, 16), 276: (0, 20)}
# Link type -> bytes before an IP header, which contains its version.
_IP_AT = {0: 4, 108: 4, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0}
LINK_TYPES = {
    0: "BSD loopback",
    1: "Ethernet",
    12: "raw IP",
    14: "raw IP",
    101: "raw IP",
    108: "OpenBSD loopback",
    113: "Linux cooked",
    228: "IPv4",
    229: "IPv6",
    276: "Linux cooked v2",
}


class SocketAddress(NamedTuple):
    """``address`` as 4 or 16 bytes, so that it is cheap to compare."""

    address: bytes
    port: int

    def __str__(self) -> str:
        host = ip_address(self.address)
        return f"{host}:{self.port}" if host.version == 4 else f"[{host}]:{self.port}"


class TcpSegment(NamedTuple):
    """``missing`` bytes of its payload were cut off at the end when it was captured.

    ``interface``: where, in a file that has names for that.
    """

    time_ns: int
    source: SocketAddress
    destination: SocketAddress
    seq: int
    ack: int
    flags: int
    payload: bytes
    missing: int
    interface: str = ""


class NoSegment(Exception):
    """The packet holds none; ``kind`` is a word for the count of such packets."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def read_segment(link_type: int, packet: bytes, time_ns: int) -> TcpSegment:
    """Raises NoSegment ("not TCP", "fragment", "cut short"), KeyError for a foreign link type."""
    try:
        ip = _ip_offset(link_type, packet)
        if packet[ip] >> 4 == 4:
            return _from_ipv4(packet, ip, time_ns)
        if packet[ip] >> 4 == 6:
            return _from_ipv6(packet, ip, time_ns)
    except (IndexError, struct.error):
        raise NoSegment("cut short") from None
    raise NoSegment("not TCP")


def _ip_offset(link_type: int, packet: bytes) -> int:
    if link_type in _IP_AT:
        return _IP_AT[link_type]
    type_at, offset = _WITH_ETHERTYPE[link_type]
    (ethertype,) = struct.unpack_from(">H", packet, type_at)
    while ethertype in _VLAN_TAGS:
        (ethertype,) = struct.unpack_from(">H", packet, offset + 2)
        offset += 4
    if ethertype not in (_IPV4, _IPV6):
        raise NoSegment("not TCP")
    return offset


def _from_ipv4(packet: bytes, ip: int, time_ns: int) -> TcpSegment:
    total, _, fragment = struct.unpack_from(">HHH", packet, ip + 2)
    if packet[ip + 9] != _TCP:
        raise NoSegment("not TCP")
    if fragment & 0x3FFF:  # more fragments follow, or this is a later one
        raise NoSegment("fragment")
    # 0: the network card was to cut it into segments, so the length was not yet filled in.
    end = ip + total if total else len(packet)
    return _from_tcp(
        packet,
        ip + (packet[ip] & 15) * 4,
        end,
        (packet[ip + 12 : ip + 16], packet[ip + 16 : ip + 20]),
        time_ns,
    )


def _from_ipv6(packet: bytes, ip: int, time_ns: int) -> TcpSegment:
    (length,) = struct.unpack_from(">H", packet, ip + 4)
    end = ip + 40 + length if length else len(packet)
    kind, offset = packet[ip + 6], ip + 40
    while kind in _EXTENSIONS:
        if kind == _FRAGMENT:
            if struct.unpack_from(">H", packet, offset + 2)[0] & 0xFFF9:
                raise NoSegment("fragment")
            step = 8
        elif kind == _AUTHENTICATION:
            step = (packet[offset + 1] + 2) * 4
        else:
            step = (packet[offset + 1] + 1) * 8
        kind, offset = packet[offset], offset + step
    if kind != _TCP:
        raise NoSegment("not TCP")
    return _from_tcp(
        packet, offset, end, (packet[ip + 8 : ip + 24], packet[ip + 24 : ip + 40]), time_ns
    )


def _from_tcp(
    packet: bytes, tcp: int, end: int, addresses: tuple[bytes, bytes], time_ns: int
) -> TcpSegment:
    source, destination, seq, ack, words, flags = _PORTS_TO_FLAGS.unpack_from(packet, tcp)
    begin = tcp + (words >> 4) * 4
    if begin < tcp + 20 or begin > end:
        raise NoSegment("cut short")
    payload = packet[begin:end]
    return TcpSegment(
        time_ns,
        SocketAddress(addresses[0], source),
        SocketAddress(addresses[1], destination),
        seq,
        ack,
        flags,
        payload,
        end - begin - len(payload),
    )
