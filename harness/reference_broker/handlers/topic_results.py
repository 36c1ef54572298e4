"""Answers with some partitions refused by the broker and others by the group's coordinator."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar


class AboutPartition(Protocol):
    """A part of a request or an answer that is about one partition."""

    partition_index: int


class TopicResult(Protocol):
    """The part of an answer about one topic."""

    partitions: list[Any]


T = TypeVar("T", bound=TopicResult)
K = TypeVar("K", bound=Hashable)
P = TypeVar("P", bound=AboutPartition)


def first_of_each(asked: Sequence[P], answered: Sequence[AboutPartition]) -> list[P]:
    """Return the first entry of each partition that has no answer yet."""
    left: dict[int, P] = {}
    for part in asked:
        left.setdefault(part.partition_index, part)
    for known in answered:
        left.pop(known.partition_index, None)
    return list(left.values())


def merged(refused: dict[K, T], done: Sequence[T], key: Callable[[T], K]) -> list[T]:
    """Return each topic once, refused partitions first; `done` as it is if none was refused.

    Source: classes OffsetCommitResponse and OffsetDeleteResponse, the method merge of each builder.
    """
    if not refused:
        return list(done)
    topics = dict(refused)
    for result in done:
        known = topics.setdefault(key(result), result)
        if known is not result:
            known.partitions += result.partitions
    return list(topics.values())
