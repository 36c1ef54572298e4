"""Addresses as people write them."""

from __future__ import annotations

import re

from harness.base.address import Address
from harness.targets.errors import TargetError

HOST_PORT = re.compile(
    r"(?:\[(?P<literal>[0-9A-Fa-f:.%\w]+)\]|(?P<name>[^\s:\[\]/,]+)):(?P<port>[0-9]{1,9})"
)
PORT_LIMIT = 65_535
HOST_LIMIT_CHARACTERS = 253


def parse_address(text: str) -> Address:
    """``HOST:PORT`` or ``[IPV6]:PORT``. Raises TargetError."""
    match = HOST_PORT.fullmatch(text.strip())
    if not match:
        hint = " (an IPv6 address stands in brackets)" if text.count(":") > 1 else ""
        raise TargetError(f"the address {text!r} is not HOST:PORT{hint}")
    host, port = match["literal"] or match["name"], int(match["port"])
    if not 1 <= port <= PORT_LIMIT:
        raise TargetError(f"there is no port {port}; ports go from 1 to {PORT_LIMIT}")
    if len(host) > HOST_LIMIT_CHARACTERS or any(len(label) > 63 for label in host.split(".")):
        raise TargetError(f"the host name {host!r} is too long")
    return Address(host, port)
