"""Defects of area ELECT: wrong elections of a controller among virtual brokers."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    BrokerRegistrationRequest,
    DescribeTopicPartitionsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    IncrementalAlterConfigsRequest,
    MetadataResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.edited_request import with_body
from labs.defects.replicas import Replicas, taken_for, told_to_others

NO_LEADER = -1
UNCLEAN = 1
WHOLE = 3
"""Count of the replicas that the partitions of these tests have."""


@told_to_others("ELECT-019", r"it is only eligible: error is NONE")
def an_eligible_one_is_available(_: Replicas, __: Message, answer: Message) -> None:
    """The controller answers each preferred election as if the preferred leader were in sync."""
    if isinstance(answer, ElectLeadersResponse):
        for topic in answer.replica_election_results:
            for each in topic.partition_result:
                if each.error_code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE:
                    each.error_code = ErrorCode.NONE


@told_to_others("ELECT-010", r"it is not in the ISR: error is NONE")
def who_is_alive_is_available(done: Replicas, _: Message, answer: Message) -> None:
    """A preferred election succeeds if the preferred leader is alive, in the ISR or not."""
    if isinstance(answer, ElectLeadersResponse) and not done.has_configs:
        result = answer.replica_election_results[0].partition_result[0]
        if result.error_code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE:
            result.error_code = ErrorCode.NONE


@taken_for("ELECT-020", r"the first named its epoch, the second another: ")
def no_shutdown_is_clean(_: Replicas, seen: SeenRequest) -> bytes | None:
    """The controller ignores the previous broker epoch of a registration."""
    message = seen.message
    if not isinstance(message, BrokerRegistrationRequest) or message.previous_broker_epoch < 0:
        return seen.payload
    message.previous_broker_epoch = -1
    return with_body(seen, message)


@told_to_others("ELECT-021", r"the last leader is back: Eligible\(leader=\d")
def the_last_leader_is_always_elected(_: Replicas, __: Message, answer: Message) -> None:
    """The controller elects the last known leader while another replica is eligible."""
    if isinstance(answer, DescribeTopicPartitionsResponse):
        for topic in answer.topics:
            for each in topic.partitions:
                last = each.last_known_elr or []
                if each.leader_id == NO_LEADER and not set(last) & {
                    *(each.eligible_leader_replicas or [])
                }:
                    each.leader_id = max(last, default=NO_LEADER)


@told_to_others("ELECT-022", r"an unclean election: the leader is \d+, expected")
def the_last_live_replica_is_elected(done: Replicas, asked: Message, answer: Message) -> None:
    """An unclean election takes the last live replica of the assignment."""
    if isinstance(asked, ElectLeadersRequest) and isinstance(answer, ElectLeadersResponse):
        result = answer.replica_election_results[0].partition_result[0]
        if asked.election_type == UNCLEAN and result.error_code == ErrorCode.NONE:
            done.timed_out = len(done.replicas) == WHOLE
    if isinstance(answer, MetadataResponse) and done.timed_out:
        for topic in answer.topics:
            for each in topic.partitions:
                each.leader_id = done.replicas[-1]


@told_to_others("ELECT-023", r"the minimum has changed: ")
def a_lower_minimum_clears_nothing(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller keeps eligible leader replicas when min.insync.replicas changes."""
    if isinstance(asked, IncrementalAlterConfigsRequest):
        names = {one.name for resource in asked.resources for one in resource.configs}
        done.minimum_changed |= "min.insync.replicas" in names
    if isinstance(answer, DescribeTopicPartitionsResponse):
        for topic in answer.topics:
            for each in topic.partitions:
                if each.eligible_leader_replicas:
                    done.eligible = [*each.eligible_leader_replicas]
                elif done.minimum_changed:
                    each.eligible_leader_replicas = done.eligible


DEFECTS = [
    an_eligible_one_is_available,
    who_is_alive_is_available,
    no_shutdown_is_clean,
    the_last_leader_is_always_elected,
    the_last_live_replica_is_elected,
    a_lower_minimum_clears_nothing,
]
