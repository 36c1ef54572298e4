"""``python -m bench.cluster [--rounds N] [--records N] [--idle-s S]``: see the package."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from confluent_kafka import KafkaError, Message, Producer

from bench.broker.record_load import LoadFailed, produce
from bench.cluster.clusters import KAFKA, LIMIT_S, OURS, Running, running
from bench.proxy.table import machine

ROUNDS, BLOCK_ROUNDS, FAILOVERS = 20, 10, 5
WARMING_ROUNDS = {OURS: 6, KAFKA: 80}
"""Warm-up rounds: Kafka reaches a third of its rate until Java has compiled its code."""
RECORDS, RECORD_BYTES = 100_000, 1024
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
class ClusterGoal:
    """``found`` may not be on the other side of ``limit``."""

    name: str
    found: float
    limit: float
    is_least: bool

    @property
    def reached(self) -> bool:
        """True if ``found`` keeps ``limit``."""
        return self.found >= self.limit if self.is_least else self.found <= self.limit


def main(arguments: Sequence[str]) -> int:
    """0 when every goal is reached, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--idle-s", type=float, default=IDLE_S)
    options = parser.parse_args(arguments)
    rounds = _produce_rounds(options.rounds, options.records)
    goals = [
        ClusterGoal("acks=all on three replicas, of one alone: ours to Kafka's",
             _to_kafka(rounds, ClusterRound.share), 1.0, is_least=True),
        ClusterGoal("acks=all on three replicas: ours to Kafka's",
             _to_kafka(rounds, lambda each, name: each.rate[name, 3]), 1.0, is_least=True),
        ClusterGoal("processor of the brokers for a record on three replicas: ours to Kafka's",
             _to_kafka(rounds, lambda each, name: each.cost_s[name]), 1.0, is_least=False),
        ClusterGoal("from the end of a leader to a write: ours to Kafka's",
             _failover_s(OURS) / _failover_s(KAFKA), 1.0,
             is_least=False),
        ClusterGoal(f"processor of {PARTITIONS} idle partitions: ours to Kafka's",
             _idle_share(OURS, options.idle_s) / _idle_share(KAFKA, options.idle_s), 1.0,
             is_least=False),
    ]  # fmt: skip
    sys.stdout.write(_markdown(goals, rounds))
    return 0 if all(goal.reached for goal in goals) else 1


def _markdown(goals: Sequence[ClusterGoal], rounds: Sequence[ClusterRound]) -> str:
    lines = [f"machine: {machine()}", ""]
    for name in (OURS, KAFKA):
        rate = median(each.rate[name, 3] for each in rounds)
        share = median(each.share(name) for each in rounds)
        told = f"{rate:,.0f} records a second on three replicas, {share:.3f} of one's rate"
        each_share = ", ".join(f"{each.share(name):.2f}" for each in rounds)
        lines.append(f"- {name}: {told} (by round: {each_share})")
    lines += ["", "| goal | wanted | found | |", "|---|--:|--:|---|"]
    for goal in goals:
        sign = ">=" if goal.is_least else "<="
        verdict = "PASS" if goal.reached else "FAIL"
        lines.append(f"| {goal.name} | {sign} {goal.limit:.2f} | {goal.found:.2f} | {verdict} |")
    return "\n".join(lines) + "\n"


@dataclass(slots=True)
class ClusterRound:
    """Each cluster once: records a second by name and number of nodes, and
    seconds of a processor for a record on three."""

    rate: dict[tuple[str, int], float] = field(default_factory=dict)
    cost_s: dict[str, float] = field(default_factory=dict)

    def share(self, name: str) -> float:
        """The rate with three replicas, divided by the rate with one."""
        return self.rate[name, 3] / self.rate[name, 1]


def _to_kafka(rounds: Sequence[ClusterRound], of: Callable[[ClusterRound, str], float]) -> float:
    """The median of ours to Kafka's: rounds of the one are not beside those of the other."""
    return median(of(each, OURS) for each in rounds) / median(of(each, KAFKA) for each in rounds)


def _produce_rounds(rounds: int, records: int) -> list[ClusterRound]:
    """Measure Produce in blocks, each with new clusters: ours first, then Kafka's.

    Only the clusters of one implementation run at a time, because even an idle cluster takes
    processor time and memory from the others. Raises LoadFailed if a replica falls out of sync:
    acks=all would then not wait for it.
    """
    done = [ClusterRound() for _ in range(rounds)]
    for start in range(0, rounds, BLOCK_ROUNDS):
        block = done[start : start + BLOCK_ROUNDS]
        for name in (OURS, KAFKA):
            with running(name, 1) as one, running(name, 3) as three:
                for counted in [*(ClusterRound() for _ in range(WARMING_ROUNDS[name])), *block]:
                    _measure(counted, name, {1: one, 3: three}, records)
    return done


def _measure(
    counted: ClusterRound, name: str, clusters: Mapping[int, Running], records: int
) -> None:
    """Produce to each cluster and store rate and processor cost in ``counted``.

    A few records are produced before the measurement, because followers of a new topic start
    slowly. The topic is deleted afterwards: otherwise the machine has to find new memory in each
    round, and the last rounds are slower for each implementation.
    """
    for nodes, cluster in clusters.items():
        topic = next(_NAMES)
        cluster.make_topic(topic, 1, nodes)
        produce(cluster.bootstrap, topic, RECORD_BYTES, records // 20)
        before = cluster.processor_s()
        counted.rate[name, nodes] = produce(cluster.bootstrap, topic, RECORD_BYTES, records)
        if nodes > 1:
            counted.cost_s[name] = (cluster.processor_s() - before) / records
        if (in_sync := cluster.in_sync(topic)) != nodes:
            raise LoadFailed(f"{name}: {in_sync} of {nodes} replicas are in sync")
        cluster.delete_topic(topic)


def _failover_s(name: str) -> float:
    """From the kill of the leader's broker to the first write that is acknowledged."""
    found = []
    for _ in range(FAILOVERS):
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
    """Return the share of one processor that an idle cluster uses.

    Nothing else runs meanwhile, because a process that waits for a processor does less.
    """
    topic = next(_NAMES)
    with running(name) as cluster:
        cluster.make_topic(topic, PARTITIONS, 3)
        _await_quiet(cluster, topic)
        before, began = cluster.processor_s(), time.perf_counter()
        time.sleep(idle_s)  # it is measured while nothing happens
        return (cluster.processor_s() - before) / (time.perf_counter() - began)


def _await_quiet(cluster: Running, topic: str) -> None:
    """Until all replicas are in sync, and two seconds cost hardly less than the two before."""
    deadline, last = time.monotonic() + LIMIT_S, float("inf")
    while time.monotonic() < deadline:
        before = cluster.processor_s()
        time.sleep(2.0)
        used = cluster.processor_s() - before
        if used > 0.9 * last and cluster.all_in_sync(topic, 3):
            return
        last = used
    raise LoadFailed(f"{cluster.target.spec} does not come to rest in {LIMIT_S} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
