"""Consumers, brokers and topics come and go: a state machine holds the registration to a model."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness.historical.consumer_id import parse_consumer_id, stream_names
from harness.historical.consumer_registration import (
    ConsumerRegistration,
    FilterKind,
    Subscription,
    TopicFilter,
    wants,
)
from harness.historical.partition_owners import Owned, PartitionOwners
from labs.message_values.values import QUICK

GROUPS, CONSUMERS, TOPICS = ("g", "h"), ("c1", "c2", "c3"), ("a", "b", "ab")
SUBSCRIPTIONS: list[Subscription] = [
    frozenset({"a"}),
    frozenset({"a", "b"}),
    TopicFilter(FilterKind.WHITELIST, "a.*"),
    TopicFilter(FilterKind.BLACKLIST, "a"),
]


class RegistrationMachine(RuleBasedStateMachine):
    """Every change; the owners expected afterwards are computed without range assignment."""

    def __init__(self) -> None:
        super().__init__()
        self.registration = ConsumerRegistration()
        self.stale: set[str] = set()  # groups not notified of a topic they consume

    def _change(self, expected: set[str], found: set[str], before: dict[Owned, str]) -> None:
        assert found == expected
        after = self.registration.owners.owners
        for group in set(GROUPS) - expected:
            mine = {one: who for one, who in after.items() if one.group == group}
            assert mine == {one: who for one, who in before.items() if one.group == group}
        self.stale -= expected

    @rule(group=st.sampled_from(GROUPS), consumer=st.sampled_from(CONSUMERS),
          subscription=st.sampled_from(SUBSCRIPTIONS))  # fmt: skip
    def consumer_comes_or_goes(self, group: str, consumer: str, subscription: Subscription) -> None:
        before = dict(self.registration.owners.owners)
        members = self.registration.groups.get(group, {})
        if consumer not in members:
            found = self.registration.consumer_joins(group, consumer, subscription)
            self._change({group}, found, before)
        elif len(members) > 1:
            self._change({group}, self.registration.consumer_leaves(group, consumer), before)
        else:
            kept = {one: who for one, who in before.items() if one.group != group}
            self._change(set(), self.registration.consumer_leaves(group, consumer), kept)
            self.stale.discard(group)

    @rule(broker=st.integers(0, 2))
    def broker_comes_or_goes(self, broker: int) -> None:
        before = dict(self.registration.owners.owners)
        living = {group for group, members in self.registration.groups.items() if members}
        here = broker in self.registration.brokers
        change = self.registration.broker_leaves if here else self.registration.broker_joins
        self._change(living, change(broker), before)

    @precondition(lambda self: len(self.registration.topics) < len(TOPICS))
    @rule(data=st.data())
    def topic_is_added(self, data: st.DataObject) -> None:
        new = data.draw(st.sampled_from([t for t in TOPICS if t not in self.registration.topics]))
        counts = data.draw(st.dictionaries(st.integers(0, 2), st.integers(1, 4), max_size=3))
        before = dict(self.registration.owners.owners)
        takes, filtered = set(), set()
        for group, members in self.registration.groups.items():
            for one in members.values():
                if wants(one, new):
                    takes.add(group)
                    if isinstance(one, TopicFilter):
                        filtered.add(group)
        self.stale |= takes
        self._change(filtered, self.registration.topic_is_added(new, counts), before)

    @invariant()
    def every_partition_has_one_owner_that_wants_it(self) -> None:
        for group in set(GROUPS) - self.stale:
            members = self.registration.groups.get(group, {})
            expected = {
                Owned(group, topic, str(partition))
                for topic in self.registration.topics
                if any(wants(one, topic) for one in members.values())
                for partition in self.registration.partitions_of(topic)
            }
            owners = self.registration.owners.owners
            assert {one for one in owners if one.group == group} == expected
            assert all(wants(members[owners[one]], one.topic) for one in expected)


TestRegistration = RegistrationMachine.TestCase
TestRegistration.settings = settings(QUICK, max_examples=60, stateful_step_count=25)


def test_duplicate_consumer_broker_or_topic_is_refused() -> None:
    registration = ConsumerRegistration(topics={"a": {}}, brokers={1})
    registration.consumer_joins("g", "c", frozenset())
    with pytest.raises(ValueError, match="c is in g already"):
        registration.consumer_joins("g", "c", frozenset())
    with pytest.raises(ValueError, match="broker id 1 is in use already"):
        registration.broker_joins(1)
    with pytest.raises(ValueError, match="topic a is there already"):
        registration.topic_is_added("a", {})


def test_claim_all_takes_all_partitions_or_none() -> None:
    owners = PartitionOwners()
    several = [Owned("g", "t", str(partition)) for partition in range(3)]
    assert owners.claim(several[2], "other")
    assert owners.claim(several[0], "me")
    assert not owners.claim_all(several, "me")
    assert owners.owned_by("me", "g") == several[:1], "what was mine before stays mine"
    owners.release("other", "g")
    assert owners.claim_all(several, "me")
    assert owners.owned_by("me", "g") == several


@pytest.mark.parametrize(
    "text",
    ["", "host", "host:", ":12345678-9abc-def0-1234-56789abcdef0",
     "host:{12345678-9abc-def0-1234-56789abcdef0}", "host:12345678-9ABC-DEF0-1234-56789ABCDEF0"],
)  # fmt: skip
def test_malformed_consumer_id_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"host:uuid|hexadecimal|usual form"):
        parse_consumer_id(text)


def test_stream_names_number_streams_of_consumer() -> None:
    assert stream_names("host:1", 3) == ["host:1-0", "host:1-1", "host:1-2"]
