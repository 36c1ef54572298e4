"""Addresses as toxiproxy's API writes them."""

from __future__ import annotations

import re

from harness.base.address import Address

LAST_PORT = 65_535
_HOST_PORT = re.compile(r"(?:\[(?P<literal>[^\s\[\]]*)\]|(?P<name>[^\s:\[\]/]*)):(?P<port>\d{1,5})")


def parse_address(text: object, *, first_port: int) -> Address:
    """``HOST:PORT`` or ``[IPV6]:PORT``; raises ValueError. No host is written by none."""
    match = _HOST_PORT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"must be HOST:PORT, not {text!r}")
    port = int(match["port"])
    if not first_port <= port <= LAST_PORT:
        raise ValueError(f"has a port from {first_port} to {LAST_PORT}, not {port}")
    return Address(match["literal"] or match["name"] or "", port)
