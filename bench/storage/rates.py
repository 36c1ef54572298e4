"""Records produced and consumed, by brokers that take turns."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import TypeVar

from bench.broker.record_load import LoadFailed, consume, produce
from bench.storage import page_cache
from bench.storage.brokers import DISK, KAFKA, MEMORY, TOGETHER, StorageRunning, running
from bench.storage.raw_fetch import fetch
from bench.storage.table import Found, at_least, ratios

TO_MEMORY, COLD, TO_KAFKA = 0.7, 0.6, 0.5
RECORD_BYTES = 1024
WARMING_ROUNDS = 3
DROPPED_WITHIN_S = 10
KAFKA_WARMING_ROUNDS = 40
"""Warm-up rounds: Kafka reaches a third of its rate until Java has compiled its code."""
_NAMES = (f"bench-{number}" for number in itertools.count(1))
T = TypeVar("T")


def produced_to_disk(rounds: int, records: int) -> list[Found]:
    """Against the same broker in memory, alone as it is started, and with a controller."""
    with running((MEMORY, TOGETHER, DISK)) as brokers:
        made = _in_turns(brokers, rounds, lambda broker: _produced(broker, records))
    what = f"{RECORD_BYTES} bytes a record, produced to the disk"
    return [
        at_least(TO_MEMORY, what, f"in memory, {peer}", ratios(made[DISK], made[peer]))
        for peer in (MEMORY, TOGETHER)
    ]


def consumed_cold(rounds: int, records: int) -> list[Found]:
    """Compare reads from disk with reads from the page cache, by a consumer and a raw reader."""
    ways: dict[str, Callable[[StorageRunning, str], float]] = {
        "consumed": lambda broker, topic: consume(broker.bootstrap, topic, records),
        "fetched by a reader that looks at nothing": lambda broker, topic: fetch(
            broker.address, topic, records
        ),
    }
    found = []
    with running((DISK,)) as brokers:
        broker, topic = brokers[DISK], next(_NAMES)
        broker.make_topic(topic)
        produce(broker.bootstrap, topic, RECORD_BYTES, records)
        for name, read in ways.items():
            cold, warm = [], []
            for _ in range(rounds + 1):
                _drop(broker, topic)
                cold.append(read(broker, topic))
                _want_cached(broker, topic, 0.99, 1.0)
                warm.append(read(broker, topic))
            what = f"{RECORD_BYTES} bytes a record, cold, {name}"
            found.append(at_least(COLD, what, "warm", ratios(cold[1:], warm[1:])))
    return found


def _drop(broker: StorageRunning, topic: str) -> None:
    """Again until all is out: a page on its way into a socket stays when it is asked to go."""
    until = time.monotonic() + DROPPED_WITHIN_S
    while True:
        page_cache.drop(broker.files(topic))
        try:
            return _want_cached(broker, topic, 0.0, 0.0)
        except LoadFailed:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _want_cached(broker: StorageRunning, topic: str, least: float, most: float) -> None:
    """Raises LoadFailed: what is measured would be something else."""
    for path in broker.files(topic):
        share = page_cache.cached_share(path)
        if path.suffix == ".log" and not least <= share <= most:
            raise LoadFailed(f"{share:.3f} of {path.name} is in the page cache")


def beside_kafka(rounds: int, records: int) -> tuple[list[Found], list[str]]:
    """Both on the same disk, Kafka as its own scripts start it, and warm; and both rates."""
    works = ("produced", "consumed")
    done: dict[tuple[str, str], list[float]] = {}
    with running((DISK, KAFKA)) as brokers:
        for _ in range(KAFKA_WARMING_ROUNDS):
            _both(brokers[KAFKA], records)
        for name, each in _in_turns(brokers, rounds, lambda one: _both(one, records)).items():
            for work, of_work in zip(works, zip(*each, strict=True), strict=True):
                done[name, work] = list(of_work)
    found = [
        at_least(
            TO_KAFKA,
            f"{RECORD_BYTES} bytes a record, {work} on the same disk",
            "Kafka 4.4.0",
            ratios(done[DISK, work], done[KAFKA, work]),
        )
        for work in works
    ]
    notes = [
        f"{work} by {name}: {median(rates):,.0f} records a second"
        for (name, work), rates in done.items()
    ]
    return found, notes


def _both(broker: StorageRunning, records: int) -> tuple[float, float]:
    """Records a second, produced and read again; the topic goes afterwards."""
    topic = next(_NAMES)
    broker.make_topic(topic)
    produce(broker.bootstrap, topic, RECORD_BYTES, records // 20)
    made = produce(broker.bootstrap, topic, RECORD_BYTES, records)
    read = consume(broker.bootstrap, topic, records)
    broker.delete_topic(topic)
    return made, read


def _produced(broker: StorageRunning, records: int) -> float:
    topic = next(_NAMES)
    broker.make_topic(topic)
    produce(broker.bootstrap, topic, RECORD_BYTES, records // 20)
    made = produce(broker.bootstrap, topic, RECORD_BYTES, records)
    broker.delete_topic(topic)
    return made


def _in_turns(
    brokers: Mapping[str, StorageRunning], rounds: int, work: Callable[[StorageRunning], T]
) -> dict[str, list[T]]:
    """Return the results of ``work``, one a round, by broker.

    The order of the brokers rotates, and the results of the warm-up rounds are dropped.
    """
    order = list(brokers)
    done: dict[str, list[T]] = {name: [] for name in order}
    for _ in range(WARMING_ROUNDS + rounds):
        for name in order:
            done[name].append(work(brokers[name]))
        order.append(order.pop(0))
    return {name: values[WARMING_ROUNDS:] for name, values in done.items()}
