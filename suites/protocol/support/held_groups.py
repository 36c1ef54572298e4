"""Groups that stay while they have no members, whatever others do to the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic

T = TypeVar("T")


def hold(broker: BrokerUnderTest, group: str) -> None:
    """Commit an offset of the group, which may be new, so that no coordinator forgets it.

    Kafka up to 3.9 forgets each group that has neither members nor offsets when any topic is
    deleted (class GroupMetadataManager, cleanupGroupMetadata), and with it the id that a newcomer
    was given; every release does so once in ``offsets.retention.check.interval.ms``. The offset is
    of the topic of offsets, which no test deletes. A broker without that topic, or one that refuses
    the commit, has the group as it was.
    """
    if broker.advertised("OffsetCommit"):
        with suppress(NotApplicable, PreparationFailed):
            commit(broker, group, {internal_topic(broker, OFFSETS_TOPIC): [entry(0)]})


def held_group(broker: BrokerUnderTest, topic: Topic) -> str:
    """Return a :func:`fresh_group` that is held: a commit finds it, and the broker keeps it."""
    group = fresh_group(broker, topic)
    hold(broker, group)
    return group


def first_answer(
    broker: BrokerUnderTest, ask: Callable[[], T], codes_of: Callable[[T], Iterable[int]]
) -> T:
    """Return the response to a request that creates a group, which cannot be held before it exists.

    The request is repeated while the error is COORDINATOR_NOT_AVAILABLE: Kafka 2.3 to 3.9 returns
    it if it removes the group (state Dead) between the creation and the rest of the request.
    """
    return broker.last_seen(
        ask, lambda answer: ErrorCode.COORDINATOR_NOT_AVAILABLE not in codes_of(answer)
    )
