"""Memory, cold start and first record of a group: ``python -m bench.broker.moments``.

Each is a ratio against a peer of the same run: the bytes of the log, an interpreter that imports
asyncio and ends, Apache Kafka 4.4.0. Less is better.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

from confluent_kafka import Consumer

from bench.broker import raw_load
from bench.broker.peers import KAFKA, OURS, BrokerPeer, started
from bench.broker.record_load import LIMIT_S, LoadFailed, new_topic, produce
from bench.proxy.table import machine
from bench.ratio import median_ratio
from harness.client.connection import Connection
from harness.codec.messages import DescribeLogDirsRequest

ROUNDS = 15
QUICK_GROUPS = ",set.group.initial.rebalance.delay.ms=0"
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Moment:
    """``found``: ours to the peer's; it may be ``most``."""

    name: str
    peer: str
    most: float
    found: float

    @property
    def reached(self) -> bool:
        return self.found <= self.most


def main() -> int:
    """0 when every goal is reached, else 1."""
    moments = [
        *[_memory(size, count) for size, count in ((100, 1_500_000), (1024, 250_000))],
        Moment(
            "cold start to the first answer",
            "import asyncio",
            2.5,
            median_ratio(_first_answer, _import_asyncio, ROUNDS),
        ),
        _first_record(),
    ]
    lines = [f"machine: {machine()}", "", "| goal | against | at most | found | |"]
    lines.append("|---|---|--:|--:|---|")
    for one in moments:
        verdict = "PASS" if one.reached else "FAIL"
        lines.append(f"| {one.name} | {one.peer} | {one.most:.2f} | {one.found:.2f} | {verdict} |")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if all(one.reached for one in moments) else 1


def _memory(size: int, count: int) -> Moment:
    """Measure the memory growth of a new broker, divided by the size of its log."""
    with ExitStack() as stack:
        peer = started(stack, OURS)
        topic = new_topic(peer.bootstrap, made=True)
        before_bytes = peer.held_bytes()
        produce(peer.bootstrap, topic, size, count)
        grew_bytes = peer.held_bytes() - before_bytes
        log_bytes = _log_bytes(peer)
    name = f"memory, {count:,} records of {size} bytes"
    return Moment(name, f"{log_bytes >> 20} MiB of log", 1.3, grew_bytes / log_bytes)


def _log_bytes(peer: BrokerPeer) -> int:
    with Connection(peer.address) as connection:
        answer = connection.ask(DescribeLogDirsRequest(topics=None), 4)
    topics = [topic for found in answer.results for topic in found.topics]
    return sum(partition.partition_size for topic in topics for partition in topic.partitions)


def _first_answer() -> float:
    """Seconds from the start of a broker's process to its first answer."""
    with closing(socket.create_server((_HOST, 0))) as reserved:
        port = reserved.getsockname()[1]
    command = [sys.executable, "-m", "harness.reference_broker", "--port", str(port)]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            _await_answer(port, process)
            return time.perf_counter() - began
        finally:
            process.kill()


def _await_answer(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection((_HOST, port), LIMIT_S) as client:
                client.sendall(raw_load.api_versions())
                if client.recv(1 << 16):
                    return
        except ConnectionRefusedError:
            time.sleep(0.001)  # the pace of asking
    raise LoadFailed("the broker did not answer")


def _import_asyncio() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
    return time.perf_counter() - began


def _first_record() -> Moment:
    """From the subscription of a new group's only member to its first record."""
    with ExitStack() as stack:
        topics = {}
        for name in (OURS, KAFKA):
            peer = started(stack, name, QUICK_GROUPS)
            topics[name] = (peer, new_topic(peer.bootstrap, made=True))
            produce(peer.bootstrap, topics[name][1], 100, 1)
        found = median_ratio(
            lambda: _until_record(*topics[OURS]), lambda: _until_record(*topics[KAFKA]), ROUNDS
        )
    return Moment("subscription to the first record of a new group", KAFKA, 1.0, found)


def _until_record(peer: BrokerPeer, topic: str) -> float:
    group = f"bench-{time.monotonic_ns()}"
    own = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": peer.bootstrap, **own})
    try:
        began = time.perf_counter()
        consumer.subscribe([topic])
        message = consumer.poll(LIMIT_S)
        if message is None or message.error() is not None:
            raise LoadFailed(f"the first record of {peer.name} did not come")
        return time.perf_counter() - began
    finally:
        consumer.close()


if __name__ == "__main__":
    sys.exit(main())
