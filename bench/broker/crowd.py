"""The effect of other clients on a broker's rates: ``python -m bench.broker.crowd``.

Two built-in brokers run at the same time, and one is left alone. The other holds 10,000 partitions.
It serves 1,000 clients that have sent one request each and are now silent, and some clients that
send requests continuously and never read a response. The same work is then done at both brokers, in
turns.
"""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack, closing

from bench.broker import raw_load
from bench.broker.peers import OURS, BrokerPeer, started
from bench.broker.works import METADATA, SYNCHRONOUS, Work, works
from bench.proxy.table import machine
from bench.ratio import median_ratio
from harness.client.connection import Connection
from harness.codec.messages import CreateTopicsRequest

IDLE, TOPICS, PARTITIONS_EACH, DEAF = 1_000, 100, 100, 10
ROUNDS = 7
LEAST = 0.9
_DEAF_STOPS_AFTER_S = 0.5
_MEBIBYTE = 1 << 20


def main() -> int:
    """0 when each kind of work is done at least ``LEAST`` times as fast in the crowd."""
    with ExitStack() as stack:
        alone, crowded = started(stack, OURS), started(stack, OURS)
        for peer in (alone, crowded):
            _make_topics(peer, raw_load.TOPIC, 1, 1)
        _make_topics(crowded, "crowd", TOPICS, PARTITIONS_EACH)
        before_bytes = crowded.held_bytes()
        for _ in range(IDLE):
            _idle(stack.enter_context(socket.create_connection(crowded.address)))
        each_bytes = (crowded.held_bytes() - before_bytes) / IDLE
        for _ in range(DEAF):
            _deaf(stack.enter_context(closing(socket.create_connection(crowded.address))))
        held_mebibytes = (crowded.held_bytes() - before_bytes) / _MEBIBYTE
        chosen = [work for work in works() if work.name in (METADATA, SYNCHRONOUS)]
        ratios = {work.name: _ratio(work, alone, crowded) for work in chosen}
    lines = [
        f"machine: {machine()}",
        "",
        f"{IDLE} idle connections: {each_bytes / 1024:.1f} KiB each;",
        f"with {DEAF} that never read: {held_mebibytes:.1f} MiB in all",
        "",
        "| work | in the crowd to alone | wanted | |",
        "|---|--:|--:|---|",
        *[
            f"| {name} | {ratio:.2f} | {LEAST:.2f} | {'PASS' if ratio >= LEAST else 'FAIL'} |"
            for name, ratio in ratios.items()
        ],
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if min(ratios.values()) >= LEAST else 1


def _ratio(work: Work, alone: BrokerPeer, crowded: BrokerPeer) -> float:
    return median_ratio(lambda: work.once(crowded), lambda: work.once(alone), ROUNDS)


def _make_topics(peer: BrokerPeer, name: str, count: int, partitions: int) -> None:
    with Connection(peer.address) as connection:
        for number in range(count):
            topic = CreateTopicsRequest.CreatableTopic(
                name=name if count == 1 else f"{name}-{number}",
                num_partitions=partitions,
                replication_factor=1,
            )
            answer = connection.ask(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 5)
            if answer.topics[0].error_code:
                raise RuntimeError(f"no topic: error {answer.topics[0].error_code}")


def _idle(peer: socket.socket) -> None:
    """Has been served once, and stays."""
    peer.sendall(raw_load.api_versions())
    if not peer.recv(1 << 16):
        raise ConnectionError("a client of the crowd was sent away")


def _deaf(peer: socket.socket) -> None:
    """Asks until the broker takes no more, and stays."""
    peer.settimeout(_DEAF_STOPS_AFTER_S)
    requests = raw_load.api_versions() * 1_000
    try:
        while True:
            peer.sendall(requests)
    except TimeoutError:
        return


if __name__ == "__main__":
    sys.exit(main())
