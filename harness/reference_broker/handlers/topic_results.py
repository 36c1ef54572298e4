"""Answers about topics of which the broker refuses some and the group's coordinator does others."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar


class AboutPartition(Protocol):
    """A part of a request or an answer that is about one partition."""

    partition_index: int


class TopicResult(Protocol):
    """What an answer says of one topic."""

    partitions: list[Any]


T = TypeVar("T", bound=TopicResult)
K = TypeVar("K", bound=Hashable)
P = TypeVar("P", bound=AboutPartition)


def first_of_each(asked: Sequence[P], answered: Sequence[AboutPartition]) -> list[P]:
    """Of partitions that are named again, and of those that have their answer, none."""
    left: dict[int, P] = {}
    for part in asked:
        left.setdefault(part.partition_index, part)
    for known in answered:
        left.pop(known.partition_index, None)
    return list(left.values())


def merged(refused: dict[K, T], done: Sequence[T], key: Callable[[T], K]) -> list[T]:
    """A topic once, what was refused of it first; as they are where nothing was refused.

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
