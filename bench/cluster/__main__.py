"""``python -m bench.cluster [--rounds N] [--records N] [--idle-s S]``: see the package."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from confluent_kafka import KafkaError, Message, Producer

from bench.broker.record_load import LoadFailed, produce
from bench.cluster.clusters import KAFKA, LIMIT_S, OURS, Running, running
from bench.proxy.table import machine

ROUNDS, RECORDS, RECORD_BYTES = 5, 20_000, 1024
PARTITIONS, IDLE_S = 1_000, 20.0
QUICK_CLIENT = {
    "topic.metadata.refresh.interval.ms": 100,
    "topic.metadata.refresh.fast.interval.ms": 20,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 50,
    "retry.backoff.ms": 10,
    "socket.connection.setup.timeout.ms": 1000,
}
_NAMES = (f"bench-{number}" for number in itertools.count(1))


@dataclass(frozen=True, slots=True)
class Goal:
    """``found`` may not be on the other side of ``limit``."""

    name: str
    found: float
    limit: float
    is_least: bool

    @property
    def reached(self) -> bool:
        """Whether it is where it should be."""
        return self.found >= self.limit if self.is_least else self.found <= self.limit


def main(arguments: Sequence[str]) -> int:
    """0 when every goal is reached, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--idle-s", type=float, default=IDLE_S)
    options = parser.parse_args(arguments)
    alone = {name: _rate(name, 1, options.rounds, options.records) for name in (OURS, KAFKA)}
    three = {name: _rate(name, 3, options.rounds, options.records) for name in (OURS, KAFKA)}
    share = {name: three[name] / alone[name] for name in alone}
    failover = {name: _failover_s(name, options.rounds) for name in (OURS, KAFKA)}
    idle = {name: _idle_share(name, options.idle_s) for name in (OURS, KAFKA)}
    goals = [
        Goal("acks=all on three replicas, of one alone: ours to Kafka's",
             share[OURS] / share[KAFKA], 1.0, is_least=True),
        Goal("acks=all on three replicas: ours to Kafka's", three[OURS] / three[KAFKA], 1.0,
             is_least=True),
        Goal("from the end of a leader to a write: ours to Kafka's",
             failover[OURS] / failover[KAFKA], 1.0, is_least=False),
        Goal(f"processor of {PARTITIONS} idle partitions: ours to Kafka's",
             idle[OURS] / idle[KAFKA], 1.0, is_least=False),
    ]  # fmt: skip
    sys.stdout.write(_markdown(goals, share))
    return 0 if all(goal.reached for goal in goals) else 1


def _markdown(goals: Sequence[Goal], share: dict[str, float]) -> str:
    lines = [f"machine: {machine()}", ""]
    lines += [
        f"{name}: three replicas have {found:.3f} of one's rate" for name, found in share.items()
    ]
    lines += ["", "| goal | wanted | found | |", "|---|--:|--:|---|"]
    for goal in goals:
        sign = ">=" if goal.is_least else "<="
        verdict = "PASS" if goal.reached else "FAIL"
        lines.append(f"| {goal.name} | {sign} {goal.limit:.2f} | {goal.found:.2f} | {verdict} |")
    return "\n".join(lines) + "\n"


def _rate(name: str, nodes: int, rounds: int, records: int) -> float:
    """Records a second, produced to a topic with a replica on each node; the first round warms."""
    with running(name, nodes) as cluster:
        topic = next(_NAMES)
        cluster.make_topic(topic, 1, nodes)
        rates = [
            produce(cluster.bootstrap, topic, RECORD_BYTES, records) for _ in range(rounds + 1)
        ]
        return median(rates[1:])


def _failover_s(name: str, rounds: int) -> float:
    """From the kill of the leader's broker to the first write that is acknowledged."""
    found = []
    for _ in range(rounds):
        with running(name) as cluster:
            topic = next(_NAMES)
            cluster.make_topic(topic, 1, 3)
            found.append(_one_failover_s(cluster, topic))
    return median(found)


def _one_failover_s(cluster: Running, topic: str) -> float:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, **QUICK_CLIENT})
    _write(producer, topic)
    leader = producer.list_topics(topic, LIMIT_S).topics[topic].partitions[0].leader
    cluster.target.kill_node(leader)
    began = time.perf_counter()
    _write(producer, topic)
    return time.perf_counter() - began


def _write(producer: Producer, topic: str) -> None:
    failed: list[str] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(str(error))

    producer.produce(topic, b"v", partition=0, on_delivery=delivered)
    left = producer.flush(LIMIT_S)
    if left or failed:
        raise LoadFailed(f"not acknowledged: {failed}")


def _idle_share(name: str, idle_s: float) -> float:
    """What a cluster that nobody asks uses of one processor."""
    with running(name) as cluster:
        topic = next(_NAMES)
        cluster.make_topic(topic, PARTITIONS, 3)
        _await_quiet(cluster)
        before, began = cluster.processor_s(), time.perf_counter()
        time.sleep(idle_s)  # it is measured while nothing happens
        return (cluster.processor_s() - before) / (time.perf_counter() - began)


def _await_quiet(cluster: Running) -> None:
    """Until a second costs hardly less than the one before."""
    deadline, last = time.monotonic() + LIMIT_S, float("inf")
    while time.monotonic() < deadline:
        before = cluster.processor_s()
        time.sleep(2.0)
        used = cluster.processor_s() - before
        if used > 0.9 * last:
            return
        last = used


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
