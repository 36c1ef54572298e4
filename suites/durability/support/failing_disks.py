"""A broker on a disk without space: a topic is filled until the broker refuses a record."""

from __future__ import annotations

from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.durability.support.whole_log import Stored, stored
from suites.protocol.support.appended import batch_of

ROOM_BYTES = 300_000
"""Approximate free space of a full disk."""
VALUE_BYTES = 20_000
ATTEMPTS = 10 * ROOM_BYTES // VALUE_BYTES
"""A number of records that fit on no such disk; most are never sent."""


class RefusedAppend(NamedTuple):
    """The end of an attempt: an error code, or ``silence`` (the client received no response)."""

    code: int
    silence: str = ""

    def __str__(self) -> str:
        return self.silence or ErrorCode.describe(self.code)


class Filled:
    """``acknowledged`` records of a partition, and the ``last`` value that was sent."""

    def __init__(self, client: BrokerUnderTest, topic: Topic, partition: int = 0) -> None:
        self.client, self.topic, self.partition = client, topic, partition
        self.acknowledged: Stored = []
        self.last = b""

    def append(self) -> RefusedAppend | None:
        """One record more; None: it is acknowledged."""
        self.last = b"%s-%d " % (self.topic.name.encode(), len(self.acknowledged))
        self.last = self.last.ljust(VALUE_BYTES, b".")
        try:
            answer = self.client.produce(self.topic, batch_of(self.last), partition=self.partition)
        except BrokerMisbehaved as problem:
            return RefusedAppend(ErrorCode.UNKNOWN_SERVER_ERROR, str(problem))
        if answer.error_code != ErrorCode.NONE:
            return RefusedAppend(answer.error_code)
        self.acknowledged.append((answer.base_offset, self.last))
        return None

    def until_refused(self) -> RefusedAppend | None:
        """Append records until the broker refuses one; None if it acknowledged all."""
        return next(filter(None, (self.append() for _ in range(ATTEMPTS))), None)

    def expect_kept(self, when: str) -> None:
        """All that was acknowledged is there; behind it may stand what was refused last."""
        count = len(self.acknowledged)
        found = stored(self.client, self.topic, count, self.partition)
        kept, more = found[:count], [value for _, value in found[count:]]
        lost = [offset for offset, value in self.acknowledged if (offset, value) not in kept]
        told = f"{when} the acknowledged records at {lost} are missing"
        assert kept == self.acknowledged, told
        assert more in ([], [self.last]), f"{when} {len(more)} records stand behind the last one"

    def expect_more(self, when: str) -> None:
        """The log goes on."""
        before = self.client.end_offset(self.topic, self.partition)
        refused = self.append()
        assert refused is None, f"{when} a record is refused: {refused}"
        offset, value = self.acknowledged[-1]
        assert offset == before, f"{when} the log ends at {before}, a record is stored at {offset}"
        found = stored(self.client, self.topic, before + 1, self.partition)
        assert found[-1] == (offset, value), f"{when} what is appended is not read"
