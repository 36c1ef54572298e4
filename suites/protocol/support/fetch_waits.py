"""The wait of a Fetch: that it has begun, and bounds on it as shares of its max_wait_ms."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.preparing import preparing
from harness.codec.messages import MetadataRequest
from harness.runner.in_time import in_time

PATIENCE_MS = 3000  # a max_wait_ms too long to be taken for an immediate response
# Twice that where an append has to end the wait: it exposes a broker that only polls halfway.
APPEND_PATIENCE_MS = 2 * PATIENCE_MS
QUIET_MS = 30  # long enough for a broker that answers too early to be seen
PROMPT, WOKEN = 0.9, 0.45
"""Limits as shares of max_wait_ms.

The first is for a response that awaits nothing: without a limit, one at the end of the wait would
look much the same. The second is for a wait that an append ends soon after its start.
"""


@contextmanager
def within(share: float, wait_ms: int) -> Iterator[None]:
    """The block takes no more than this share of max_wait_ms."""
    with in_time(share * wait_ms):
        started = time.monotonic()
        yield
        took_ms = (time.monotonic() - started) * 1000
        told = f"answered after {took_ms:.0f} ms, max_wait_ms is {wait_ms}"
        assert took_ms < share * wait_ms, told


def await_waiting(broker: BrokerUnderTest, *waiting: Connection) -> None:
    """Wait until the broker has read the requests sent on these connections; it answers none.

    Silence alone does not show that: a broker that stands still for as long reads them later, and
    the next request of another connection first. So a new client asks too. The broker accepts its
    connection after all of these.
    """
    for connection in waiting:
        connection.expect_silence(for_ms=QUIET_MS)
    version = broker.version("Metadata")
    with preparing("Metadata on a new connection"):
        broker.connect().ask(MetadataRequest(topics=[]), version, tolerant=True)
    for connection in waiting:
        connection.expect_silence(for_ms=1)
