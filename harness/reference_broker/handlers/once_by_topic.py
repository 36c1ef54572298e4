"""Requests in which a partition is named several times and counts once."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def once_by_topic(
    asked: Iterable[tuple[K, Iterable[V]]], index: Callable[[V], int]
) -> list[tuple[K, list[V]]]:
    """Return each topic with the last entry of each partition, without topics that have none.

    `index` returns an entry's partition. A topic and a partition stand where they are named first.
    """
    found: dict[K, dict[int, V]] = {}
    for topic, partitions in asked:
        for entry in partitions:
            found.setdefault(topic, {})[index(entry)] = entry
    return [(topic, list(entries.values())) for topic, entries in found.items()]
