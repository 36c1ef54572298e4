"""Defects of areas LDIR and BROK: log directories of virtual brokers, and features they lack."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionResponse,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    ElectLeadersResponse,
    MetadataResponse,
)
from harness.codec.structs import Message
from labs.defects.replicas import Replicas, told_to_others

RESERVED = 100
"""Ids of directories below this one name no directory (KIP-858)."""
ASSIGNMENTS, OFFLINE = -1, -2
"""Keys of ``Replicas.epochs``: the count of assignments, 1 once a directory is offline."""
PREPARED = 2
"""The count of assignments before a check begins."""


def _note(done: Replicas, asked: Message) -> None:
    if isinstance(asked, AssignReplicasToDirsRequest):
        done.epochs[ASSIGNMENTS] = done.epochs.get(ASSIGNMENTS, 0) + 1
    if isinstance(asked, BrokerHeartbeatRequest) and asked.offline_log_dirs:
        done.epochs[OFFLINE] = 1


def _partitions(answer: Message) -> list[MetadataResponse.MetadataResponsePartition]:
    if not isinstance(answer, MetadataResponse):
        return []
    return [each for topic in answer.topics for each in topic.partitions]


@told_to_others("LDIR-010", r"followed there: leader and ISR are \(\d+, \(\d+, \d+\)\)")
def a_follower_needs_no_directory(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller takes only leaders in an offline directory out of the ISR."""
    _note(done, asked)
    for each in _partitions(answer):
        if OFFLINE in done.epochs and each.replica_nodes == done.replicas:
            each.isr_nodes = [*done.replicas]


@told_to_others("LDIR-011", r"there: offline are \[\], expected")
def a_live_broker_has_no_offline_replica(_: Replicas, __: Message, answer: Message) -> None:
    """Metadata lists only replicas on brokers that are gone as offline."""
    for each in _partitions(answer):
        each.offline_replicas = []


@told_to_others("LDIR-012", r"assigned to the offline directory: leader and ISR are")
def a_late_assignment_changes_nothing(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller records an offline directory of a replica that goes on leading."""
    _note(done, asked)
    if OFFLINE in done.epochs and done.epochs.get(ASSIGNMENTS, 0) > PREPARED:
        for each in _partitions(answer):
            each.leader_id = each.replica_nodes[0]


@told_to_others("LDIR-013", r"an unclean election: error is NONE")
def a_replica_without_directory_is_elected(_: Replicas, __: Message, answer: Message) -> None:
    """The controller reports an unclean election as done when the only broker that is alive has
    no directory for the replica.
    """
    if isinstance(answer, ElectLeadersResponse):
        for topic in answer.replica_election_results:
            for each in topic.partition_result:
                if each.error_code == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE:
                    each.error_code = ErrorCode.NONE


@told_to_others("BROK-020", r"the partition epoch is 2")
def every_assignment_is_a_change(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller begins a partition epoch for an assignment that changes nothing."""
    _note(done, asked)
    if isinstance(answer, AlterPartitionResponse) and done.epochs.get(ASSIGNMENTS, 0) > PREPARED:
        answer.topics[0].partitions[0].partition_epoch += 1


@told_to_others("BROK-021", r"a directory, (alive|fenced): error is NONE")
def a_directory_may_have_two_brokers(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller registers a broker with a directory of another one."""
    if isinstance(asked, BrokerRegistrationRequest):
        assert isinstance(answer, BrokerRegistrationResponse)
        known = {each.int for each in asked.log_dirs if each.int > RESERVED}
        if len(known) == len(asked.log_dirs) > 1:
            answer.error_code = ErrorCode.NONE


@told_to_others("BROK-022", r"without .*: error is NONE")
def only_listed_features_are_compared(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller registers a broker that does not list a feature of the cluster."""
    if isinstance(asked, BrokerRegistrationRequest):
        assert isinstance(answer, BrokerRegistrationResponse)
        is_usual = all(
            each.max_supported_version > each.min_supported_version for each in asked.features
        )
        if is_usual and answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            answer.error_code = ErrorCode.NONE


@told_to_others("BROK-023", r"an unused feature from level 1 on: error is NONE")
def an_unused_feature_may_be_at_any_level(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller compares no feature that it does not know."""
    if isinstance(asked, BrokerRegistrationRequest):
        assert isinstance(answer, BrokerRegistrationResponse)
        if any(each.name == "unused.version" for each in asked.features):
            answer.error_code = ErrorCode.NONE


DEFECTS = [
    a_follower_needs_no_directory,
    a_live_broker_has_no_offline_replica,
    a_late_assignment_changes_nothing,
    a_replica_without_directory_is_elected,
    every_assignment_is_a_change,
    a_directory_may_have_two_brokers,
    only_listed_features_are_compared,
    an_unused_feature_may_be_at_any_level,
]
