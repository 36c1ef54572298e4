"""Independent reader of messages: leaves by the slow interpreter, with their addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.codec.structs import Message
from harness.codec.trace import TracedField, trace

HOSTS, PORTS = ("host", "host_name", "v0_host"), ("port", "v0_port")
NOT_OF_NODES = "user_endpoint"


class Leaf(NamedTuple):
    """``raw``: the bytes of a leaf; ``address``: of a struct with host and port, both."""

    path: str
    raw: bytes
    address: tuple[str, int] | None


def leaves(cls: type[Message], version: int, data: bytes, start: int = 0) -> list[Leaf]:
    """All leaves, the two of an address as one. Raises the error of a wrong message."""
    traced = trace(cls, version, data, start)
    assert traced.message is not None
    return list(_leaves(traced.root, data, ""))


def _leaves(node: TracedField, data: bytes, path: str) -> Iterator[Leaf]:
    words: dict[str, Any] = {one.name: one.value for one in node.inner}
    host = next((name for name in HOSTS if name in words), None)
    port = next((name for name in PORTS if name in words), None)
    is_address = False
    if host is not None and port is not None and NOT_OF_NODES not in path:
        is_address = True
        yield Leaf(f"{path}.(address)", b"", (words[host], words[port]))
    for one in node.inner:
        if is_address and one.name in (host, port):
            continue
        own = f"{path}.{one.name}"
        if one.inner:
            yield from _leaves(one, data, own)
        else:
            yield Leaf(own, data[one.offset : one.stop], None)


def addresses(found: list[Leaf]) -> list[tuple[str, int]]:
    return [leaf.address for leaf in found if leaf.address is not None]


def without_addresses(found: list[Leaf]) -> list[tuple[str, bytes]]:
    return [(leaf.path, leaf.raw) for leaf in found]
