"""Packets of every link type, against scapy's own dissection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Ether, Loopback
from scapy.packet import Packet, Raw

from harness.capture.segment import NoSegment, TcpSegment, read_segment
from labs.message_values.values import QUICK

V4 = IP(src="127.0.0.1", dst="127.0.0.2")
V6 = IPv6(src="::1", dst="fe80::2")
ETHER = Ether(src="00:00:00:00:00:01", dst="00:00:00:00:00:02")
LINKS: dict[str, tuple[int, Packet | None]] = {
    "ethernet": (1, ETHER),
    "vlan": (1, ETHER / Dot1Q(vlan=5)),
    "two vlans": (1, ETHER / Dot1AD(vlan=5) / Dot1Q(vlan=6)),
    "raw": (101, None),
    "cooked": (113, CookedLinux()),
    "cooked v2": (276, CookedLinuxV2()),
}
EACH_LINK = pytest.mark.parametrize("link", LINKS)
EACH_IP = pytest.mark.parametrize("ip", [V4, V6], ids=["IPv4", "IPv6"])
OPTIONS = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]


def tcp(options: Sequence[object] = ()) -> Packet:
    fields: dict[str, Any] = {"options": list(options)}
    return TCP(sport=40000, dport=9092, seq=2**32 - 5, ack=77, flags="PA", **fields)


def packed(link: str, *layers: Packet) -> tuple[int, bytes]:
    kind, below = LINKS[link]
    packet = layers[0] if below is None else below / layers[0]
    for layer in layers[1:]:
        packet = packet / layer
    return kind, bytes(packet)


def check(found: TcpSegment, ip: Packet, payload: bytes) -> None:
    assert str(found.source) == (f"[{ip.src}]" if ":" in ip.src else ip.src) + ":40000"
    assert str(found.destination) == (f"[{ip.dst}]" if ":" in ip.dst else ip.dst) + ":9092"
    assert (found.seq, found.ack, found.flags) == (2**32 - 5, 77, 0x18)
    assert (found.payload, found.missing, found.time_ns) == (payload, 0, 7)


@EACH_LINK
@EACH_IP
@pytest.mark.parametrize("options", [[], OPTIONS], ids=["plain", "options"])
def test_tcp_segment_is_read_for_every_link_type(
    link: str, ip: Packet, options: list[object]
) -> None:
    kind, data = packed(link, ip, tcp(options=options), Raw(b"payload"))
    check(read_segment(kind, data, 7), ip, b"payload")


@EACH_IP
def test_loopback_packet_is_read_in_both_byte_orders(ip: Packet) -> None:
    """The family's number differs by system and byte order; the IP header decides."""
    inner = bytes(ip / tcp() / Raw(b"payload"))
    for family in (2, 24, 28, 30):
        orders: tuple[Literal["little", "big"], ...] = ("little", "big")
        for order in orders:
            data = family.to_bytes(4, order) + inner
            check(read_segment(0, data, 7), ip, b"payload")
            check(read_segment(108, data, 7), ip, b"payload")
    check(read_segment(0, bytes(Loopback() / ip / tcp() / Raw(b"payload")), 7), ip, b"payload")


@EACH_LINK
@EACH_IP
def test_link_padding_is_not_payload(link: str, ip: Packet) -> None:
    kind, data = packed(link, ip, tcp())
    check(read_segment(kind, data + bytes(6), 7), ip, b"")


@EACH_IP
def test_zero_ip_length_from_offload_is_accepted(ip: Packet) -> None:
    data = bytearray(bytes(ETHER / ip / tcp() / Raw(b"payload")))
    at = 14 + (2 if ip is V4 else 4)
    data[at : at + 2] = b"\0\0"
    check(read_segment(1, bytes(data), 7), ip, b"payload")


@EACH_IP
def test_truncated_packet_reports_missing_bytes(ip: Packet) -> None:
    data = bytes(ETHER / ip / tcp() / Raw(b"payload"))
    found = read_segment(1, data[:-3], 7)
    assert (found.payload, found.missing) == (b"payl", 3)


def test_ipv6_extension_headers_are_skipped() -> None:
    data = bytes(ETHER / V6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / tcp() / Raw(b"payload"))
    check(read_segment(1, data, 7), V6, b"payload")


@pytest.mark.parametrize(
    ("packet", "kind"),
    [
        (ETHER / V4 / UDP() / Raw(b"x"), "not TCP"),
        (ETHER / V6 / UDP() / Raw(b"x"), "not TCP"),
        (Ether(type=0x0806) / Raw(bytes(28)), "not TCP"),
        (ETHER / IP(flags="MF") / tcp() / Raw(b"x"), "fragment"),
        (ETHER / IP(frag=3) / tcp() / Raw(b"x"), "fragment"),
        (ETHER / V6 / IPv6ExtHdrFragment(offset=1) / tcp(), "fragment"),
    ],
)
def test_non_tcp_or_fragment_packet_raises_no_segment(packet: Packet, kind: str) -> None:
    with pytest.raises(NoSegment) as caught:
        read_segment(1, bytes(packet), 7)
    assert caught.value.kind == kind


@EACH_LINK
@EACH_IP
def test_packet_cut_at_any_byte_is_segment_or_raises_cut_short(link: str, ip: Packet) -> None:
    kind, data = packed(link, ip, tcp(options=OPTIONS), Raw(b"payload"))
    kinds = set()
    for end in range(len(data)):
        try:
            found = read_segment(kind, data[:end], 7)
        except NoSegment as reason:
            kinds.add(reason.kind)
        else:
            assert len(found.payload) + found.missing == 7
    assert kinds == {"cut short"}


@QUICK
@given(st.sampled_from([0, 1, 12, 101, 108, 113, 228, 229, 276]), st.binary(max_size=80))
def test_arbitrary_bytes_give_segment_or_no_segment_error(kind: int, data: bytes) -> None:
    try:
        found = read_segment(kind, data, 7)
    except NoSegment:
        return
    assert len(found.payload) <= len(data)
