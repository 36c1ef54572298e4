"""Members of one group, by the calls of a client: what they read, and what each has assigned."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harness.clients.calls import ClientFailed
from harness.clients.vocabulary import Json
from harness.runner.asked_clients import ClientUnderTest

PARTITIONS, EACH = 4, 10
ALL = frozenset(range(PARTITIONS))
READ_MS = 60_000


class GroupMembers:
    """The members of a group of this name, on the topic of the same name."""

    def __init__(self, client: ClientUnderTest, topic: str) -> None:
        self._client, self.topic = client, topic
        self._names: list[str] = []
        self.records: list[tuple[str, Json]] = []
        """What the members have read, in order."""

    def join(self, name: str, strategy: str, *, commits: bool = True) -> None:
        """Let a member join; ``commits`` as in Calls.join."""
        self._client.calls.join(name, self.topic, self.topic, strategy, commits=commits)
        self._names.append(name)

    def leave(self, name: str) -> None:
        """Let a member leave."""
        self._names.remove(name)
        self._client.calls.leave(name)

    def poll_until(self, is_done: Callable[[], bool], what: str) -> None:
        """Poll all members until it is done; fail with ``what`` and the state of the group."""

        def look() -> bool:
            self.records += self._client.calls.poll(*self._names)
            return is_done()

        found = self._client.broker.last_seen(look, lambda seen: seen, READ_MS)
        assert found, (
            f"not in {READ_MS} ms: {what}; {len(self.records)} records were read, "
            f"assigned is {self.assigned()}"
        )

    def until_owned(self) -> None:
        """Poll until every partition has one owner, and every member a partition."""
        self.poll_until(self._is_owned, "every partition has one owner, every member some")

    def read_to(self, each: int) -> None:
        """Poll until so many records of each partition are read; none of them comes twice."""
        wanted = PARTITIONS * each
        self.poll_until(lambda: len(self.records) >= wanted, f"{wanted} records are read")
        self.records += self._client.calls.poll(*self._names)
        read = Counter((one["partition"], one["offset"]) for _, one in self.records)
        due = {(partition, offset) for partition in ALL for offset in range(each)}
        twice = sorted(place for place, count in read.items() if count > 1)
        assert not twice, f"read twice (partition, offset): {twice}"
        assert read.keys() == due, f"not read: {sorted(due - read.keys())}"
        wrong = [one for _, one in self.records if one["value"] != _value(one)]
        assert not wrong, f"records of other values: {wrong[:2]}"

    def assigned(self) -> dict[str, list[int]]:
        """The partitions of each member, as it has them."""
        return {name: sorted(self._client.calls.assignment(name)) for name in self._names}

    def _is_owned(self) -> bool:
        found = list(self.assigned().values())
        return sorted(each for one in found for each in one) == sorted(ALL) and all(found)

    def close(self) -> None:
        """Let all members leave that are still there."""
        for name in list(self._names):
            with contextlib.suppress(ClientFailed):
                self.leave(name)


def _value(record: Json) -> str:
    return f"{record['partition']}-{record['offset']}"


@contextmanager
def members_of(client: ClientUnderTest, topic: str) -> Iterator[GroupMembers]:
    """The members of a new group; the end of the block lets them leave."""
    made = GroupMembers(client, topic)
    try:
        yield made
    finally:
        if not client.calls.is_gone:
            made.close()


def offsets_of(records: Sequence[tuple[str, Json]]) -> list[int]:
    """The offsets of what was read, in order."""
    return [one["offset"] for _, one in records]
