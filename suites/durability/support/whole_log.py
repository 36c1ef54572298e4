"""A log read from its first offset to its end, for a comparison with the acknowledged records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.protocol.support.appended import batch_of
from suites.protocol.support.fetching import records_of

SOON_MS = 3_000
Stored = list[tuple[int, bytes | None]]
"""Offsets and values."""


def acknowledged(
    client: BrokerUnderTest, topic: Topic, count: int, *, acks: Sequence[int] = (-1, 1)
) -> Stored:
    """Append so many records, a batch each, with these acks in turn; return what a read finds.

    Raises PreparationFailed if the broker refuses one.
    """
    appended: Stored = []
    for number in range(count):
        value = b"%s-%d" % (topic.name.encode(), number)
        answer = client.produce(topic, batch_of(value), acks=acks[number % len(acks)])
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
        appended.append((answer.base_offset, value))
    return appended


def stored(client: BrokerUnderTest, topic: Topic, least: int = 0, partition: int = 0) -> Stored:
    """Return all records from offset 0 to the log's end; checksums are verified.

    ``least``: wait a moment for so many records, since a new leader may return an older high
    watermark at first. With a ZooKeeper its log may be unknown to Fetch for a moment.
    """
    found: Stored = []
    end = client.last_seen(
        lambda: client.end_offset(topic, partition), lambda end: end >= least, SOON_MS
    )
    offset = 0
    while offset < end:
        data = client.last_seen(
            partial(client.fetch, topic, offset, partition=partition),
            lambda data: data.error_code == ErrorCode.NONE,
        )
        more = [one for one in records_of(data) if offset <= one[0] < end]
        told = f"the log ends at {end}, the fetch's error is {ErrorCode.describe(data.error_code)}"
        assert more, f"there is nothing at {offset}; {told}"
        found += more
        offset = more[-1][0] + 1
    return found


def expect_lost_at_most(found: Stored, sent: Stored, limit: int, when: str) -> None:
    """The log holds a prefix of the sent records, and lacks ``limit`` records at most."""
    prefix = sent[: len(found)]
    assert found == prefix, f"{when} the log holds {found}, of {sent} sent"
    lost = len(sent) - len(found)
    told = f"{when} {lost} of {len(sent)} acknowledged records are lost"
    assert lost <= limit, f"{told}, expected {limit} at most"
