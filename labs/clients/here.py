"""A started client in a test, and waiting for what takes a broker or a group its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from harness.client.broker import BrokerUnderTest
from harness.clients.calls import Calls
from labs.awaiting import await_right
from labs.clients.clients import CLIENTS, Client

T = TypeVar("T")
DEADLINE_S = 120.0
WRITER = "confluent-kafka"


class Here:
    """``calls``: what the client does; ``writer``: the same, or another where it cannot send."""

    def __init__(
        self, client: Client, broker: BrokerUnderTest, folder: Path, stack: ExitStack
    ) -> None:
        self.client, self._broker, self._folder, self._stack = client, broker, folder, stack
        self.bootstrap = ",".join(map(str, broker.addresses))
        self.calls = self._started(client)
        self.writer = self.calls if client.offers("produce") else self._started(CLIENTS[WRITER])

    def create(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic by the client; what comes next may need it, so await that it is there."""
        self.calls.create_topic(topic, partitions, configs)

        def leaders() -> list[int]:
            (found,) = self._broker.metadata([topic]).topics
            return [one.leader_id for one in found.partitions if one.error_code == 0]

        awaited(leaders, lambda found: len(found) == partitions, "the topic has its leaders")

    def _started(self, client: Client) -> Calls:
        log = self._folder / f"{self.client.name}-{client.name}.log"
        return self._stack.enter_context(client.start(self.bootstrap, log))


def for_clients(*calls: str) -> pytest.MarkDecorator:
    """The test runs with every client that offers these calls."""
    names = [one.name for one in CLIENTS.values() if one.offers(*calls)]
    return pytest.mark.parametrize("client", names, indirect=True, scope="session")


def strategies_of_clients() -> pytest.MarkDecorator:
    """The test runs with every client that is a member of groups, in each way it knows."""
    pairs = [
        (one.name, strategy)
        for one in CLIENTS.values()
        if one.offers("join")
        for strategy in one.strategies
    ]
    return pytest.mark.parametrize(
        ("client", "strategy"), pairs, indirect=["client"], scope="session"
    )


def awaited(look: Callable[[], T], is_right: Callable[[T], bool], what: str) -> T:
    """Return the first result of ``look`` that is right; fail with the last one if none is."""
    return await_right(look, is_right, what)
