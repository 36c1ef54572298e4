"""Elections on request, and those that the controller holds by itself."""

from typing import Any

import pytest

from harness.base.ids import BrokerId
from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import api_43_elect_leaders
from harness.reference_broker.handlers.outcome import Advertised, RequestContext
from harness.reference_broker.state.controller.elections import preferred_leaders, unclean_leaders
from harness.reference_broker.state.controller.fencing import fenced, leads_anything
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from tests.reference_broker.made_controller import (
    CHANCE,
    NOW,
    MadeController,
    broker,
    registered,
)

PREFERRED, UNCLEAN = 0, 1
CONFIG: dict[str, Any] = {"unclean_leader_election_enable": "true"}
NONE: dict[str, Any] = {}


def made_with(
    registration: PartitionRegistration, *alive: int, keeps_eligible: bool = True, **configs: str
) -> MadeController:
    brokers = [broker(each, is_fenced=each not in alive) for each in registration.replicas]
    made = MadeController(brokers, keeps_eligible=keeps_eligible)
    made.with_partition(registration, **configs)
    return made


def asked(made: MadeController, election: int, version: int = 2, **named: Any) -> Any:
    topics = messages.ElectLeadersRequest.TopicPartitions(topic="t", partitions=[0])
    given: dict[str, Any] = {"topic_partitions": [topics], "election_type": election, **named}
    context = RequestContext(
        version, None, 0, made.state, Advertised(()), lambda: NOW, CHANCE, [], role=made.role
    )
    return api_43_elect_leaders.handle(messages.ElectLeadersRequest(**given), context).message


def outcome(answer: Any) -> int:
    return int(answer.replica_election_results[0].partition_result[0].error_code)


@pytest.mark.parametrize("version", [0, 2])
def test_preferred_election_elects_preferred_leader(version: int) -> None:
    made = made_with(registered([1, 2], [2, 1]), 1, 2)
    assert outcome(asked(made, PREFERRED, version)) == 0
    assert (made.partition.leader, made.partition.leader_epoch) == (1, 6)


@pytest.mark.parametrize(
    ("leader", "isr", "alive", "error"),
    [
        (1, [1, 2], (1, 2), ErrorCode.ELECTION_NOT_NEEDED),
        (2, [2], (1, 2), ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (2, [1, 2], (2,), ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
    ],
    ids=["leads already", "not in sync", "fenced"],
)
def test_preferred_election_is_refused_if_unneeded_or_leader_unavailable(
    leader: int, isr: list[int], alive: tuple[int, ...], error: ErrorCode
) -> None:
    made = made_with(registered([1, 2], isr, leader=leader), *alive)
    assert outcome(asked(made, PREFERRED)) == error
    assert made.partition.leader == leader


def test_requested_unclean_election_ignores_unclean_leader_election_config() -> None:
    made = made_with(registered([1, 2], [1], leader=-1), 2)
    assert outcome(asked(made, UNCLEAN)) == 0
    assert (made.partition.leader, made.partition.isr) == (2, (2,))
    assert made.partition.is_recovering


@pytest.mark.parametrize(
    ("leader", "alive", "error"),
    [
        (1, (1, 2), ErrorCode.ELECTION_NOT_NEEDED),
        (-1, (), ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
    ],
    ids=["has a leader", "nobody is there"],
)
def test_unclean_election_is_refused_if_unneeded_or_no_replica_is_active(
    leader: int, alive: tuple[int, ...], error: ErrorCode
) -> None:
    made = made_with(registered([1, 2], [1], leader=leader), *alive)
    assert outcome(asked(made, UNCLEAN)) == error
    assert made.partition.leader_epoch == 5


def test_election_of_all_partitions_omits_those_that_need_none() -> None:
    made = made_with(registered([1, 2], [1, 2]), 1, 2)
    answer = asked(made, PREFERRED, topic_partitions=None)
    assert answer.replica_election_results[0].partition_result == []


def test_elect_leaders_of_unknown_type_or_partition_returns_error() -> None:
    made = made_with(registered([1, 2], [1, 2]), 1, 2)
    answer = asked(made, 7)
    assert answer.error_code == outcome(answer) == ErrorCode.INVALID_REQUEST
    nowhere = messages.ElectLeadersRequest.TopicPartitions(topic="t", partitions=[1])
    answer = asked(made, PREFERRED, topic_partitions=[nowhere])
    assert outcome(answer) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_controller_elects_preferred_leader_if_it_is_active() -> None:
    for alive, leader in (((1, 2), 1), ((2,), 2)):
        made = made_with(registered([1, 2], [2, 1]), *alive)
        made.carry_out(preferred_leaders(made.state))
        assert made.partition.leader == leader


def test_controller_holds_unclean_election_only_if_topic_enables_it() -> None:
    for configs, leader in ((CONFIG, 2), (NONE, -1)):
        made = made_with(registered([1, 2], [1], leader=-1), 2, **configs)
        made.carry_out(unclean_leaders(made.state))
        assert made.partition.leader == leader


@pytest.mark.parametrize(("configs", "leader"), [(CONFIG, 2), ({}, -1)])
def test_fencing_sole_isr_member_elects_unclean_leader_only_if_enabled(
    configs: dict[str, Any], leader: int
) -> None:
    made = made_with(registered([1, 2], [1]), 1, 2, **configs)
    known = made.state.brokers.get(1)
    assert known is not None
    assert leads_anything(made.state, BrokerId(1))
    made.carry_out(fenced(made.state, known))
    assert made.partition.leader == leader
    assert not leads_anything(made.state, BrokerId(1))
