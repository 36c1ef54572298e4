"""Producers and a consumer at work on one topic while the block runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from labs.crash_loops.cases import IDEMPOTENT, PRODUCERS
from labs.crash_loops.clients import LoadClients
from labs.crash_loops.notes import CrashNotes
from labs.crash_loops.producers import Idempotent, LoadProducer, Plain
from labs.crash_loops.reading import Consumer

EACH = 2  # partitions of a producer
PARTITIONS = EACH * len(PRODUCERS)


class Load:
    """The producers and the consumer in their threads, and their unexpected errors."""

    def __init__(
        self,
        cluster: Cluster,
        topic: Topic,
        notes: CrashNotes,
        seed: str,
        producers: Mapping[str, int],
    ) -> None:
        self._cluster, self._notes, self._producers = cluster, notes, producers
        self._failed: list[BaseException] = []
        self._workers: list[LoadProducer | Consumer] = [
            Consumer(PARTITIONS, LoadClients(cluster.own_clients(), topic), notes)
        ]
        for number, (name, acks) in enumerate(producers.items()):
            kind = Idempotent if name == IDEMPOTENT else Plain
            own = range(number * EACH, (number + 1) * EACH)
            clients = LoadClients(cluster.own_clients(), topic)
            self._workers.append(kind(name, acks, own, clients, notes, seed))
        self._threads = [threading.Thread(target=self._run, args=(w,)) for w in self._workers]

    def _run(self, worker: LoadProducer | Consumer) -> None:
        try:
            worker.run()
        except Exception as failed:  # raised again by await_more
            self._failed.append(failed)

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def await_more(self, count: int) -> None:
        """Wait until every producer has this number of further acknowledged records.

        Raises the first error of a thread.
        """
        wanted = {name: self._notes.acknowledged(name) + count for name in self._producers}
        self._cluster.await_that(
            lambda: {name: self._notes.acknowledged(name) for name in self._producers},
            lambda seen: bool(self._failed) or all(seen[one] >= wanted[one] for one in wanted),
            f"{count} more records of each producer are acknowledged",
        )
        if self._failed:
            raise self._failed[0]

    def stop(self) -> None:
        """Stop the threads, and wait for their last answers."""
        for worker in self._workers:
            worker.stopped.set()
        for thread in self._threads:
            thread.join()


@contextmanager
def under_load(
    cluster: Cluster,
    topic: Topic,
    notes: CrashNotes,
    seed: str,
    producers: Mapping[str, int] = PRODUCERS,
) -> Iterator[Load]:
    """Run a load during the block, of these producers with their acks."""
    load = Load(cluster, topic, notes, seed, producers)
    load.begin()
    try:
        yield load
    finally:
        load.stop()
