"""The rules of an election: each decides in its own case, in their order."""

from __future__ import annotations

import pytest

from harness.base.ids import BrokerId
from harness.reference_broker.state.controller.leader_election import (
    ELECTION_RULES,
    Elected,
    Election,
    Electorate,
    elect,
)
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER, ids_of

REPLICAS = (1, 2, 3)
DECIDING = [
    # rule, election, leader, ISR, ELR, last known, acceptable, elected
    (0, Election.PREFERRED, 2, (1, 2), (), (), (1, 2), Elected(BrokerId(1))),
    (1, Election.PREFERRED, 3, (2, 3), (), (), (1, 2, 3), Elected(BrokerId(3))),
    (1, Election.UNCLEAN, 3, (2, 3), (), (), (1, 2, 3), Elected(BrokerId(3))),
    (2, Election.ONLINE, 1, (1, 2, 3), (), (), (2, 3), Elected(BrokerId(2))),
    (2, Election.ONLINE, -1, (), (3,), (1,), (1, 2, 3), Elected(BrokerId(3))),
    (3, Election.ONLINE, -1, (), (), (3,), (1, 2, 3), Elected(BrokerId(3), is_unclean=True)),
    (3, Election.UNCLEAN, -1, (), (), (3,), (1, 3), Elected(BrokerId(3), is_unclean=True)),
    (4, Election.UNCLEAN, -1, (1,), (), (), (2, 3), Elected(BrokerId(2), is_unclean=True)),
    (4, Election.UNCLEAN, -1, (), (), (2, 3), (3,), Elected(BrokerId(3), is_unclean=True)),
    (5, Election.ONLINE, 1, (1,), (2,), (), (2, 3), Elected(NO_LEADER)),
    (5, Election.PREFERRED, -1, (), (), (1, 2), (1, 2, 3), Elected(NO_LEADER)),
    (5, Election.UNCLEAN, 1, (1,), (), (), (), Elected(NO_LEADER)),
]


@pytest.mark.parametrize(
    ("rule", "election", "leader", "isr", "elr", "last_known", "acceptable", "elected"), DECIDING
)
def test_first_rule_with_a_leader_decides(
    rule: int,
    election: Election,
    leader: int,
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    last_known: tuple[int, ...],
    acceptable: tuple[int, ...],
    elected: Elected,
) -> None:
    electorate = Electorate(
        BrokerId(leader),
        ids_of(REPLICAS),
        ids_of(isr),
        ids_of(elr),
        ids_of(last_known),
        lambda broker: broker in acceptable,
    )
    assert elect(electorate, election) == elected
    for number, one in enumerate(ELECTION_RULES):
        decides = election in one.elections and any(
            one.may_lead(electorate, each) for each in one.candidates(electorate)
        )
        assert decides or number != rule
        assert not decides or number >= rule


def test_every_rule_and_every_election_has_a_case() -> None:
    assert {case[0] for case in DECIDING} == {*range(len(ELECTION_RULES) + 1)}
    assert {case[1] for case in DECIDING} == set(Election)
