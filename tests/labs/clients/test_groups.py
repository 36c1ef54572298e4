"""Groups: every record once over all members, from the last commit on, and their descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from harness.clients.calls import Calls
from harness.clients.records import FOR_EVER, numbered
from harness.clients.vocabulary import EAGER, Json
from labs.clients.here import Here, awaited, for_clients, strategies_of_clients

PARTITIONS = 4
EACH = 10
ALL = set(range(PARTITIONS))


class Reading:
    """The records that the members have read, in order."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.records: list[tuple[str, Json]] = []

    def poll(self, *members: str) -> None:
        """Poll each member once."""
        self.records += self._calls.poll(*members)

    def until(self, members: Sequence[str], is_done: Callable[[], bool], what: str) -> None:
        """Poll the members in turn until ``is_done``."""
        awaited(lambda: self.poll(*members), lambda _: is_done(), what)

    def owned(self, *members: str) -> bool:
        """True if every partition has one owner, and every member a partition."""
        found = [self._calls.assignment(member) for member in members]
        whole = set().union(*found) == ALL and sum(map(len, found)) == PARTITIONS
        return whole and all(found)

    def every_record_once(self, each: int) -> None:
        """Assert that all partitions were read to their ends, without gaps or repetitions."""
        places = Counter((one["partition"], one["offset"]) for _, one in self.records)
        assert places == Counter((at, offset) for at in ALL for offset in range(each))
        for one in (record for _, record in self.records):
            assert one["value"] == f"{one['partition']}-{one['offset']}"


@strategies_of_clients()
def test_group_reads_every_record_once_while_members_join_and_leave(
    client: Here, name: str, strategy: str
) -> None:
    calls, reading = client.calls, Reading(client.calls)
    client.create(name, PARTITIONS, FOR_EVER)
    calls.produce(name, numbered(PARTITIONS, EACH))
    calls.join("one", name, name, strategy)
    reading.until(["one"], lambda: bool(reading.records), "the first member reads")
    assert reading.owned("one")
    assert len(reading.records) < PARTITIONS * EACH  # it is not done when the other comes

    both = ["one", "two"]
    calls.join("two", name, name, strategy)
    reading.until(both, lambda: reading.owned(*both), "each has partitions of its own")
    read_to(reading, both, EACH)
    calls.produce(name, numbered(PARTITIONS, EACH, first=EACH))
    owners = {member: calls.assignment(member) for member in both}
    before = len(reading.records)
    read_to(reading, both, 2 * EACH)
    for member, one in reading.records[before:]:
        assert one["partition"] in owners[member]

    calls.produce(name, numbered(PARTITIONS, EACH, first=2 * EACH))
    calls.commit("two")
    calls.leave("two")
    reading.until(["one"], lambda: reading.owned("one"), "the first has all partitions again")
    read_to(reading, ["one"], 3 * EACH)
    calls.leave("one")


def read_to(reading: Reading, members: Sequence[str], each: int) -> None:
    """Poll until there are as many records, and assert that another round brings no more."""
    count = PARTITIONS * each
    reading.until(members, lambda: len(reading.records) >= count, f"{count} records are read")
    reading.poll(*members)
    reading.every_record_once(each)


@for_clients("join", "commit", "group_offsets")
def test_new_member_resumes_at_committed_offset(client: Here, name: str) -> None:
    calls, reading = client.calls, Reading(client.calls)
    client.create(name, 1, FOR_EVER)
    calls.produce(name, numbered(1, 20))
    calls.join("one", name, name, EAGER, commits=False)
    reading.until(["one"], lambda: len(reading.records) >= 3, "some are read")
    calls.commit("one")
    committed = len(reading.records)
    assert calls.group_offsets(name) == {(name, 0): committed}
    reading.until(["one"], lambda: len(reading.records) == 20, "the rest is read")
    calls.leave("one")
    assert calls.group_offsets(name) == {(name, 0): committed}

    again = Reading(calls)
    calls.join("another", name, name, EAGER, commits=False)
    again.until(["another"], lambda: len(again.records) >= 20 - committed, "it goes on")
    assert [one["offset"] for _, one in again.records] == list(range(committed, 20))
    calls.leave("another")


@for_clients("join", "list_groups", "describe_group", "group_offsets")
def test_group_is_described_with_members_and_committed_offsets(client: Here, name: str) -> None:
    calls, reading = client.calls, Reading(client.calls)
    client.create(name, PARTITIONS, FOR_EVER)
    calls.produce(name, numbered(PARTITIONS, 1))
    calls.join("one", name, name, EAGER)
    calls.join("two", name, name, EAGER)
    both = ["one", "two"]
    reading.until(both, lambda: reading.owned(*both), "each has partitions of its own")
    read_to(reading, both, 1)
    found = calls.describe_group(name)
    assert found["state"].upper() == "STABLE"
    assert {client_id: set(partitions) for client_id, partitions in found["members"]} == {
        member: calls.assignment(member) for member in both
    }
    for member in both:
        calls.commit(member)
    assert calls.group_offsets(name) == {(name, partition): 1 for partition in ALL}
    assert name in calls.list_groups()
    for member in both:
        calls.leave(member)
    empty = awaited(
        lambda: calls.describe_group(name), lambda told: not told["members"], "all have left"
    )
    assert empty["state"].upper() == "EMPTY"
    assert calls.group_offsets(name) == {(name, partition): 1 for partition in ALL}


@for_clients("join", "list_groups", "delete_group")
def test_deleted_group_and_its_offsets_are_gone(client: Here, name: str) -> None:
    calls, reading = client.calls, Reading(client.calls)
    client.create(name, PARTITIONS, FOR_EVER)
    calls.produce(name, numbered(PARTITIONS, 1))
    calls.join("one", name, name, EAGER)
    read_to(reading, ["one"], 1)
    calls.commit("one")
    calls.leave("one")
    assert name in calls.list_groups()
    calls.delete_group(name)
    assert name not in calls.list_groups()
    assert calls.group_offsets(name) == {}
