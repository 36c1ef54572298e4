"""Messages on their way between nodes: delivered late, in any order, or never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.base.ids import BrokerId, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.reference_broker.cluster.isr_proposals import settled
from harness.reference_broker.state.fetch.fetch_plan import FetchLimits, plan_fetch
from harness.reference_broker.state.fetch.fetch_reading import (
    PartitionReading,
    note_follower,
    read_partitions,
)
from harness.reference_broker.state.fetch.fetch_sessions import WantedPartition
from harness.reference_broker.state.partition.following import (
    FetchPosition,
    append_fetched,
    position_of,
    restart_at,
    truncate,
    truncate_to_leader,
)
from harness.reference_broker.state.partition.partition import Partition
from labs.replication_model.broker import Broker
from labs.replication_model.controller import TOPIC_ID, ModelController


@dataclass(frozen=True, slots=True)
class FetchAsked:
    """A follower's fetch, with its incarnation."""

    follower: Broker
    epoch: int
    leader: BrokerId
    position: FetchPosition
    max_bytes: int


@dataclass(frozen=True, slots=True)
class FetchAnswered:
    """The leader's reading for a fetch, with the start and end of its log at that time."""

    asked: FetchAsked
    reading: PartitionReading
    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class Proposed:
    """A leader's proposal, with its incarnation and the set that was proposed."""

    leader: Broker
    epoch: int
    request: AlterPartitionRequest
    members: frozenset[BrokerId]


@dataclass(frozen=True, slots=True)
class Settled:
    """The controller's answer to a proposal."""

    proposed: Proposed
    answer: AlterPartitionResponse


OnItsWay = FetchAsked | FetchAnswered | Proposed | Settled


def fetch_of(follower: Broker, max_bytes: int) -> FetchAsked | None:
    """Return a follower's next fetch; None if the broker leads or has no leader to fetch from."""
    partition = follower.partition
    if partition is None or not partition.is_here or partition.leading is not None:
        return None
    leader = partition.registration.leader
    if leader < 0:
        return None
    return FetchAsked(follower, follower.epoch, leader, position_of(partition), max_bytes)


def read_for(asked: FetchAsked, leader: Broker, now: TimeMs) -> FetchAnswered | None:
    """Read for a fetch at the leader; None where there is no process, or no such partition yet."""
    if leader.state is None or leader.partition is None:
        return None
    at = asked.position
    wanted = WantedPartition(
        (TOPIC_ID, 0),
        at.offset,
        asked.max_bytes,
        at.current_leader_epoch,
        at.last_fetched_epoch,
        log_start_offset=at.log_start_offset,
    )
    limits = FetchLimits(0, asked.max_bytes, asked.follower.id, asked.epoch)
    cluster = leader.state.cluster
    plan = plan_fetch(cluster, [wanted], limits, now)
    (reading,) = readings = read_partitions(plan)
    note_follower(plan, readings)
    log = leader.partition.log
    return FetchAnswered(asked, reading, log.start_offset, log.end_offset)


def take_fetched(answered: FetchAnswered, now: TimeMs) -> None:
    """Handle a fetch's answer at the follower, as class ReplicaFetcher does."""
    asked, reading = answered.asked, answered.reading
    partition = _still_follows(asked)
    if partition is None:
        return
    if reading.error is ErrorCode.OFFSET_OUT_OF_RANGE:
        if answered.end < partition.log.end_offset:
            truncate(partition, answered.end)
        elif answered.start > partition.log.end_offset:
            restart_at(partition, answered.start, now)
    elif reading.error is not ErrorCode.NONE:
        return
    elif reading.diverging is not None:
        truncate_to_leader(partition, *reading.diverging)
    else:
        append_fetched(
            partition, bytes(reading.records), reading.high_watermark, reading.log_start_offset, now
        )


def _still_follows(asked: FetchAsked) -> Partition | None:
    partition = asked.follower.partition
    if partition is None or asked.follower.epoch != asked.epoch or partition.leading is not None:
        return None
    if partition.registration.leader != asked.leader or position_of(partition) != asked.position:
        return None
    return partition


def proposed_by(leader: Broker) -> Proposed | None:
    """Return the proposal that a leader would send now; None if there is none."""
    request, partition = leader.proposal(), leader.partition
    if request is None or partition is None or partition.leading is None:
        return None
    assert partition.leading.proposed is not None
    return Proposed(leader, leader.epoch, request, partition.leading.proposed)


def judge(proposed: Proposed, controller: ModelController, now: TimeMs) -> Settled:
    """Answer a proposal at the controller."""
    return Settled(proposed, controller.ask(proposed.request, now))


def take_settled(settlement: Settled, now: TimeMs) -> bool:
    """Handle an answer at the leader, as class IsrProposals does; True if it was awaited."""
    proposed, answer = settlement.proposed, settlement.answer
    leader = proposed.leader
    partition: Any = leader.partition if leader.epoch == proposed.epoch else None
    if answer.error_code or partition is None or partition.leading is None:
        return False
    if partition.leading.proposed != proposed.members:
        return False
    settled(partition, answer.topics[0].partitions[0], now)
    return True
