"""LEG: how consumers of the ZooKeeper years shared out partitions among themselves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from uuid import UUID

from harness.conformance.checks import requirement
from harness.historical.consumer_id import ConsumerId, parse_consumer_id
from harness.historical.consumer_registration import (
    ConsumerRegistration,
    FilterKind,
    Subscription,
    TopicFilter,
)
from harness.historical.partition_owners import Owned, PartitionOwners
from harness.historical.range_assignment import BrokerPartition, range_assignment
from harness.runner.marks import judges, offline

UUID_1 = UUID("12345678-9abc-def0-1234-56789abcdef0")
MOST_PARTITIONS, MOST_CONSUMERS = 24, 9


def _named(count: int) -> list[str]:
    return [f"host-{number}" for number in range(count)]


@offline()
@judges("LEG-007")
def test_range_assignment_gives_each_consumer_contiguous_sorted_partitions() -> None:
    with requirement("LEG-007"):
        for count, each in itertools.product(range(1, MOST_CONSUMERS), range(4)):
            found = range_assignment(range(count * each), _named(count))
            runs = {
                name: list(range(at * each, (at + 1) * each))
                for at, name in enumerate(_named(count))
            }
            assert found == runs, f"{count * each} partitions, {count} consumers: {found}"


@offline()
@judges("LEG-007")
def test_range_assignment_is_complete_balanced_and_order_independent() -> None:
    sizes = itertools.product(range(MOST_PARTITIONS), range(1, MOST_CONSUMERS))
    with requirement("LEG-007"):
        for size, count in sizes:
            partitions = [BrokerPartition(at % 3, at // 3) for at in range(size)]
            found = range_assignment(reversed(partitions), reversed(_named(count)))
            told = f"{size} partitions, {count} consumers"
            given = [partition for name in sorted(found) for partition in found[name]]
            assert given == sorted(partitions), f"{told}: {len(given)} given, {given[:3]} first"
            counts = {len(mine) for mine in found.values()}
            assert max(counts) - min(counts) <= 1, f"{told}: from {min(counts)} to {max(counts)}"
            same = found == range_assignment(partitions, _named(count))
            assert same, f"{told}: another order gives another assignment"


@offline()
@judges("LEG-010")
def test_consumer_id_consists_of_host_and_uuid() -> None:
    with requirement("LEG-010"):
        for host in ("consumer-1.example", "::1"):
            text = str(ConsumerId(host, UUID_1))
            assert text == f"{host}:{UUID_1}", f"the id is {text}"
            found = parse_consumer_id(text)
            assert found == (host, UUID_1), f"{text} is read as {found}"


@offline()
@judges("LEG-010")
def test_partition_has_at_most_one_owner_per_group() -> None:
    mine = Owned("group", "topic", "0")
    others = [Owned("other", "topic", "0"), mine._replace(topic="b"), mine._replace(partition="1")]
    owners = PartitionOwners()
    with requirement("LEG-010"):
        assert owners.claim(mine, "a"), "a free partition cannot be claimed"
        assert not owners.claim(mine, "b"), "b claimed a partition that a owns"
        assert owners.owners == {mine: "a"}, f"the owners are {owners.owners}"
        for other in others:
            assert owners.claim(other, "b"), f"{other} is free and cannot be claimed"
        owners.release("a", "group")
        assert owners.claim(mine, "b"), "what a has released cannot be claimed"
        owners.release("b", "group", "topic")
        left = sorted(owners.owners)
        assert left == sorted(others[:2]), f"b lets go of its topic and keeps {left}"


NAMED: Subscription = frozenset({"a"})
ALL_BUT_A: Subscription = TopicFilter(FilterKind.BLACKLIST, "a")
ONLY_B: Subscription = TopicFilter(FilterKind.WHITELIST, "b.*")


def _registered() -> ConsumerRegistration:
    """Two brokers with topic "a"; a group that names it, and two with filters."""
    registration = ConsumerRegistration(topics={"a": {0: 2, 1: 2}}, brokers={0, 1})
    for group, subscription in (("named", NAMED), ("most", ALL_BUT_A), ("few", ONLY_B)):
        for consumer in ("1", "2"):
            registration.consumer_joins(group, f"{group}-{consumer}", subscription)
    return registration


@offline()
@judges("LEG-011")
def test_registration_change_rebalances_only_affected_groups() -> None:
    here = _registered()
    everyone = {"named", "most", "few"}
    changes: list[tuple[str, set[str], Callable[[], set[str]]]] = [
        ("a consumer joins", {"named"}, lambda: here.consumer_joins("named", "new", NAMED)),
        ("a consumer leaves", {"named"}, lambda: here.consumer_leaves("named", "new")),
        ("a broker joins", everyone, lambda: here.broker_joins(2)),
        ("a broker leaves", everyone, lambda: here.broker_leaves(2)),
        ("b1 is added", {"most", "few"}, lambda: here.topic_is_added("b1", {0: 2})),
        ("c is added", {"most"}, lambda: here.topic_is_added("c", {1: 2})),
    ]
    with requirement("LEG-011"):
        for told, expected, change in changes:
            found = change()
            assert found == expected, f"{told}: rebalanced are {sorted(found)}"


@offline()
@judges("LEG-011")
def test_rebalance_reassigns_partitions_without_affecting_other_groups() -> None:
    here = _registered()
    with requirement("LEG-011"):
        first = [owned.partition for owned in here.owners.owned_by("named-1", "named")]
        assert first == ["0-0", "0-1"], f"of four partitions the first of two has {first}"
        here.consumer_leaves("named", "named-1")
        rest = [owned.partition for owned in here.owners.owned_by("named-2", "named")]
        assert rest == ["0-0", "0-1", "1-0", "1-1"], f"the consumer that is left has {rest}"
        before = dict(here.owners.owners)
        here.topic_is_added("b", {0: 2})
        kept = {one: owner for one, owner in here.owners.owners.items() if one.topic == "a"}
        assert kept == before, f"a topic that they do not consume changes {kept}"
        taken = {(one.group, one.partition) for one in here.owners.owners if one.topic == "b"}
        expected = {(group, f"0-{at}") for group in ("most", "few") for at in range(2)}
        assert taken == expected, f"the new topic is consumed by {sorted(taken)}"
