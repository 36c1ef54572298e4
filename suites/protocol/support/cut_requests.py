"""Requests of which the client sends only a beginning before it closes the connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import cycle

from harness.client.broker import BrokerUnderTest
from harness.codec.frame import LENGTH_BYTES, frame
from harness.codec.header import encode_request
from harness.codec.structs import Message, Request
from harness.runner.faults import FaultyPath, requests

STEP_BYTES, LONG_STEP_BYTES = 7, 23  # between cuts; from version to version they move by one


def cuts(
    request: Request[Message], version: int, client_id: str, step_bytes: int = STEP_BYTES
) -> list[int]:
    """Return numbers of bytes to send.

    They end inside the length, just after it, at some places in the request, and before its last
    byte.
    """
    size = len(frame(encode_request(request, version, 1, client_id)))
    first = 1 + version % STEP_BYTES
    return sorted({*range(first, size, step_bytes), LENGTH_BYTES, size - 1})


def send_cut(
    broker: BrokerUnderTest,
    path: FaultyPath,
    request: Request[Message],
    version: int,
    client_id: str,
    at_bytes: Iterable[int],
    *,
    ends: Sequence[str] = ("close", "reset"),
) -> None:
    """Send the request again and again over connections of their own, each time cut elsewhere.

    ``ends``: what becomes of the connections, by turns, as ``truncate`` has it. Where only our
    direction ends ("end"), the broker has to close the other without having sent anything.
    """
    turns = cycle(ends)
    for at_byte in at_bytes:
        rule = requests().client_id(client_id).truncate(at_byte, then=next(turns))
        path.arm(rule)
        connection = broker.connect(client_id, through=path.address)
        connection.send(request, version)
        # The time to close begins when the broker has its part, however late the proxy cuts.
        broker.last_seen(partial(path.has_fired, rule.id), bool)
        path.expect_fired(rule.id)
        connection.expect_closed()
        path.disarm()
