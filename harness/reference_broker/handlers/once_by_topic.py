"""Requests in which a partition is named several times and counts once."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def once_by_topic(asked: Iterable[tuple[K, Iterable[tuple[int, V]]]]) -> dict[K, dict[int, V]]:
    """Return the last entry of each partition by topic and index, without topics that have none.

    `asked`: topics, each with pairs of a partition's index and its entry. A topic and a partition
    stand where they are named first.
    """
    found: dict[K, dict[int, V]] = {}
    for topic, partitions in asked:
        for index, entry in partitions:
            found.setdefault(topic, {})[index] = entry
    return found
