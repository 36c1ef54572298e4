"""Answers that are lost with their connection."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.codec.structs import Message, Request
from harness.runner.faults import Faults, responses


def lose_the_answer(
    broker: BrokerUnderTest, faults: Faults, request: Request[Message], version: int
) -> None:
    """Send the request; its answer is there, but the connection ends before it comes."""
    with faults.path(responses().first().close()) as path:
        with pytest.raises(ConnectionClosed):
            broker.connect(through=path.address).ask(request, version)
        path.expect_fired()
