"""The rules of an election, as a decision table: the first rule with a candidate that may lead.

Theory of operation. Every change of a partition holds an election, also one that is not about the
leader: the present leader stays as long as it may lead, so most elections change nothing. A broker
may lead if it is acceptable now: unfenced, not shutting down, and its log directory for this
replica is online.

A leader is safe if it has every committed record. Replicas in the ISR do. If the ISR is empty, so
do the eligible leader replicas (ELR): they left the ISR when it was below `min.insync.replicas`,
and since then nothing has been committed (KIP-966). If both are empty, the last leader is known
to have the longest log, though perhaps not all records: it was shut down uncleanly. It is elected
in every kind of election, uncleanly. Any other replica is elected only where an unclean election is
allowed, by the topic's `unclean.leader.election.enable` or by a request (KIP-460).

``ELECTION_RULES`` has the rules in their order. Each has the elections that use it, its candidates
in their order, the condition on a candidate, and whether its leader is elected uncleanly. If no
rule has a leader, the partition is offline. docs/elections.md shows the same table.

Source: PartitionChangeBuilder.electLeader of Kafka 4.0.2; KIP-460, KIP-966.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from harness.base.ids import BrokerId
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER, Ids


class Election(Enum):
    """Kinds of elections, by the brokers that may become leader."""

    PREFERRED = "the first replica, if it may"
    ONLINE = "the present leader, or any that is in sync"
    UNCLEAN = "any replica that is alive, if no replica is in sync"


class Elected(NamedTuple):
    """The result of an election; NO_LEADER if no broker may lead."""

    leader: BrokerId
    is_unclean: bool = False


@dataclass(frozen=True, slots=True)
class Electorate:
    """A partition in an election: its replicas, ISR and ELR after the change that holds it.

    `last_known`: the last leaders of an empty ISR, empty without KIP-966. `is_acceptable`: True if
    a broker may lead now.
    """

    leader: BrokerId
    replicas: Ids
    isr: Ids
    elr: Ids
    last_known: Ids
    is_acceptable: Callable[[BrokerId], bool]

    def is_safe(self, broker: BrokerId) -> bool:
        """True if the broker is acceptable and has every committed record."""
        has_all = broker in self.isr or (not self.isr and broker in self.elr)
        return has_all and self.is_acceptable(broker)

    def is_last_resort(self, broker: BrokerId) -> bool:
        """True if the broker is acceptable, the only last leader, and no replica is safe."""
        is_only = not self.isr and not self.elr and self.last_known == (broker,)
        return is_only and self.is_acceptable(broker)


@dataclass(frozen=True, slots=True)
class ElectionRule:
    """One row of the table. `named` and `if_it_is` have the columns in words."""

    elections: frozenset[Election]
    named: str
    candidates: Callable[[Electorate], Ids]
    if_it_is: str
    may_lead: Callable[[Electorate, BrokerId], bool]
    is_unclean: bool = False


_ALL = frozenset(Election)
_SAFE = "acceptable, and in the ISR, or in the ELR of an empty ISR"

ELECTION_RULES: tuple[ElectionRule, ...] = (
    ElectionRule(
        frozenset({Election.PREFERRED}),
        "the first replica",
        lambda electorate: electorate.replicas[:1],
        _SAFE,
        Electorate.is_safe,
    ),
    ElectionRule(
        _ALL,
        "the present leader",
        lambda electorate: (electorate.leader,),
        _SAFE,
        Electorate.is_safe,
    ),
    ElectionRule(
        _ALL,
        "the replicas in their order",
        lambda electorate: electorate.replicas,
        _SAFE,
        Electorate.is_safe,
    ),
    ElectionRule(
        _ALL,
        "the last known leader",
        lambda electorate: electorate.last_known,
        "acceptable, the only one known, and ISR and ELR are empty",
        Electorate.is_last_resort,
        is_unclean=True,
    ),
    ElectionRule(
        frozenset({Election.UNCLEAN}),
        "the replicas in their order",
        lambda electorate: electorate.replicas,
        "acceptable",
        lambda electorate, broker: electorate.is_acceptable(broker),
        is_unclean=True,
    ),
)
"""The rules in the order in which an election tries them."""


def elect(electorate: Electorate, election: Election) -> Elected:
    """Return the leader by the first rule that has one."""
    for rule in ELECTION_RULES:
        if election in rule.elections:
            for candidate in rule.candidates(electorate):
                if rule.may_lead(electorate, candidate):
                    return Elected(candidate, rule.is_unclean)
    return Elected(NO_LEADER)
