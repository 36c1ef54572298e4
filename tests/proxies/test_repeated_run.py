"""Same seed and traffic over real sockets: two runs leave the same fault journal, but for times."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    DescribeClusterRequest,
    ListOffsetsRequest,
    MetadataRequest,
)
from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.proxy import Proxy
from harness.proxies.rules import Rule, RuleSet, requests, responses
from harness.proxies.running import RunningProxies
from harness.proxies.toxics.latency import Latency
from harness.targets.reference import ReferenceBroker
from tests.proxies.ends import LIMIT_S, read

CONNECTIONS = 6
FRAMES = 60
NEVER_MS = 1000.0 * LIMIT_S  # all windows fill: there is a whole number of them
PARTITION = ListOffsetsRequest.ListOffsetsPartition(timestamp=-1)
TOPIC = ListOffsetsRequest.ListOffsetsTopic(name="not-there", partitions=[PARTITION])
NOWHERE = ListOffsetsRequest(topics=[TOPIC])
ASKED = ((ApiVersionsRequest(), 2), (MetadataRequest(topics=[]), 9), (NOWHERE, 1))
TRAFFIC = b"".join(
    frame(encode_request(message, version, turn))
    for turn in range(FRAMES)
    for message, version in (ASKED[turn % len(ASKED)],)
) + frame(encode_request(DescribeClusterRequest(), 0, FRAMES))
"""The same frames each time, the last with an answer that nothing is done to."""


def now_ms() -> float:
    return time.monotonic() * 1000


def rules() -> tuple[Rule, ...]:
    return (
        requests("Metadata").named("lose").with_probability(0.15).drop(),
        requests().named("late").with_probability(0.2).and_on().delay(3, jitter_ms=3),
        requests("ListOffsets").named("mix").per("connection").reorder(5, at_most_ms=NEVER_MS),
        responses("ApiVersions").named("shuffle").reorder(4, at_most_ms=NEVER_MS),
        responses("Metadata").named("twice").with_probability(0.3).duplicate(),
        responses("ListOffsets")
        .named("fail")
        .with_probability(0.5)
        .fail_with("LEADER_NOT_AVAILABLE"),
    )


def read_to_the_last(client: socket.socket) -> list[bytes]:
    """Read the answers up to that to the last request."""
    answers: list[bytes] = []
    while not answers or int.from_bytes(answers[-1][:4]) != FRAMES:
        length = int.from_bytes(read(client, 4))
        assert length, "the connection ended before the last answer"
        answers.append(read(client, length))
    return answers


class Outcome:
    """The journal of a run, and the answers that each connection read."""

    def __init__(self, broker: tuple[str, int], seed: int) -> None:
        self.events: list[Event] = []
        tell = self.events.append
        with RunningProxies() as net, ExitStack() as opened:
            at_work = RuleSet(*rules(), seed=seed, now_ms=now_ms, tell=tell)
            proxy = Proxy("p", broker, interceptor=at_work, seed=seed, tell=tell, now_ms=now_ms)
            proxy.toxics.add(Latency(latency=2, jitter=2), toxicity=0.5, name="jitter")
            proxy.toxics.add(Latency(latency=1), Direction.UPSTREAM, toxicity=0.5, name="up")
            address = net.add(proxy)
            # In this order the proxy takes them; what they send it gets all at once.
            clients = [
                opened.enter_context(socket.create_connection(address, LIMIT_S))
                for _ in range(CONNECTIONS)
            ]
            for client in clients:
                client.sendall(TRAFFIC)
            self.read = [read_to_the_last(client) for client in clients]
            assert list(proxy.errors) == []

    @property
    def journal(self) -> list[str]:
        """The events without times, sorted: the order between parallel streams is undefined."""
        lines = [event.to_json() for event in self.events]
        return sorted(json.dumps({**line, "at_ms": 0}, sort_keys=True) for line in lines)

    def fired(self) -> Counter[str | None]:
        return Counter(event.rule for event in self.events if event.what == "fired")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    logs: Path = tmp_path_factory.mktemp("logs")
    with ReferenceBroker(log_dir=logs) as target:
        yield target.addresses[0]


def test_two_runs_with_same_seed_give_equal_journals(broker: tuple[str, int]) -> None:
    first, second = Outcome(broker, seed=7), Outcome(broker, seed=7)
    assert first.journal == second.journal
    assert first.read == second.read
    named = {rule.id for rule in rules()} | {"jitter", "up"}
    assert first.fired().keys() == named, "what did nothing shows nothing"
    plain = CONNECTIONS * FRAMES
    assert 0 < first.fired()["lose"] < plain / 3
    assert [event.at_ms for event in first.events] != [event.at_ms for event in second.events]


def test_run_with_another_seed_gives_other_journal(broker: tuple[str, int]) -> None:
    first, other = Outcome(broker, seed=7), Outcome(broker, seed=8)
    assert first.journal != other.journal
    assert first.read != other.read
