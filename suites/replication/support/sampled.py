"""Samples of every broker while a test harms nodes: taken all the time, each one kept once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.client.partition_view import PartitionView
from harness.client.requests import Topic

T = TypeVar("T")
PAUSE_S = 0.01


@contextmanager
def sampled(
    cluster: Cluster, look: Callable[[BrokerUnderTest], Iterable[T]]
) -> Iterator[list[tuple[int, T]]]:
    """All that ``look`` finds at each broker while the block runs, with the broker's id.

    A broker that fails is asked again later. Raises behind the block what else ``look`` raised.
    """
    found: list[tuple[int, T]] = []
    stopped, failed = threading.Event(), list[BaseException]()
    clients = cluster.own_clients()

    def run() -> None:
        try:
            while not stopped.is_set():
                for node, client in clients.items():
                    with suppress(BrokerMisbehaved):
                        found.extend(
                            seen for one in look(client) if (seen := (node, one)) not in found
                        )
                time.sleep(PAUSE_S)
        except Exception as unexpected:  # raised in the test's thread  # noqa: BLE001
            failed.append(unexpected)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield found
    finally:
        stopped.set()
        thread.join()
    if failed:
        raise failed[0]


def views_of(topic: Topic) -> Callable[[BrokerUnderTest], list[PartitionView]]:
    """Return a ``look`` for :func:`sampled`: the topic's partitions in Metadata."""

    def look(client: BrokerUnderTest) -> list[PartitionView]:
        told = [each for each in client.metadata([topic.name]).topics if not each.error_code]
        return [PartitionView.of(each) for one in told for each in one.partitions]

    return look
