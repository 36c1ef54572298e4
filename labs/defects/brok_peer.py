"""Defects of areas BROK and SHUT: a controller that treats its brokers wrongly."""

from __future__ import annotations

import uuid

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AssignReplicasToDirsResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    MetadataResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from harness.virtual_broker.kraft import NOBODY_LISTENS
from labs.defects.edited_request import with_body
from labs.defects.replicas import Answered, Replicas, taken_for, told_to_others, told_to_replicas

CAUGHT_UP = 1 << 62
METADATA_VERSION = "metadata.version"
LOST = uuid.UUID(int=1)
STALE_WISH = -5
SHUTS_DOWN, REGISTERED = -2, -3
"""Keys beside the ids of brokers: the last that wants to shut down, and that has registered."""


def _turn(answer: Message, code: ErrorCode, into: ErrorCode = ErrorCode.NONE) -> None:
    if isinstance(answer, BrokerRegistrationResponse) and answer.error_code == code:
        answer.error_code = into


def _has_moved(asked: Message) -> bool:
    """True if a virtual broker registers at another address than the initial one of all."""
    if not isinstance(asked, BrokerRegistrationRequest):
        return False
    return any((each.host, each.port) != NOBODY_LISTENS for each in asked.listeners)


@told_to_others("BROK-001", r"another cluster id: error is NONE")
def brokers_of_other_clusters_are_welcome(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller does not check the cluster id of a registration."""
    _turn(answer, ErrorCode.INCONSISTENT_CLUSTER_ID)


@told_to_others("BROK-002", r"another incarnation: error is NONE")
def a_second_broker_takes_the_id(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller accepts a second broker with the id of an unfenced one, if it has the address
    of the first.
    """
    if isinstance(answer, BrokerHeartbeatResponse) and isinstance(asked, BrokerHeartbeatRequest):
        done.epochs[asked.broker_id] = int(answer.is_fenced)
    if not _has_moved(asked) and not done.epochs.get(getattr(asked, "broker_id", -1), 1):
        _turn(answer, ErrorCode.DUPLICATE_BROKER_REGISTRATION)


@told_to_others("BROK-003", r"the broker epoch is (\d+), that of the incarnation before \1")
def an_id_keeps_its_epoch(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller returns the same broker epoch for every incarnation at one address."""
    if not isinstance(asked, BrokerRegistrationRequest) or _has_moved(asked):
        return
    assert isinstance(answer, BrokerRegistrationResponse)
    if answer.error_code == ErrorCode.NONE:
        answer.broker_epoch = done.epochs.setdefault(asked.broker_id, answer.broker_epoch)


def _accept_later_epoch(
    done: Replicas,
    asked: Message,
    answer: Message,
    request: type[BrokerHeartbeatRequest | AllocateProducerIdsRequest],
    response: type[BrokerHeartbeatResponse | AllocateProducerIdsResponse],
) -> None:
    """Remove the error of such a response if the broker epoch is above the registered one."""
    if isinstance(answer, BrokerRegistrationResponse):
        assert isinstance(asked, BrokerRegistrationRequest)
        done.epochs[asked.broker_id] = answer.broker_epoch
    if isinstance(asked, request):
        assert isinstance(answer, response)
        if asked.broker_epoch > done.epochs.get(asked.broker_id, asked.broker_epoch):
            answer.error_code = ErrorCode.NONE


@told_to_others("BROK-006", r"epoch (\d+), the registration's is \d+: error is NONE")
def an_epoch_to_come_is_good(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller refuses a broker epoch only if it is lower."""
    _accept_later_epoch(done, asked, answer, BrokerHeartbeatRequest, BrokerHeartbeatResponse)


@taken_for("BROK-007", r"unfenced at offset 1 of the metadata log")
def whoever_reads_is_caught_up(_: Replicas, seen: SeenRequest) -> bytes | None:
    """The controller takes a broker that has read a part of the metadata log for caught up."""
    message = seen.message
    if not isinstance(message, BrokerHeartbeatRequest) or message.current_metadata_offset != 1:
        return seen.payload
    message.current_metadata_offset = CAUGHT_UP
    return with_body(seen, message)


@taken_for("BROK-007", r"fenced, although it has read its registration")
def the_record_after_the_registration_counts(_: Replicas, seen: SeenRequest) -> bytes | None:
    """The controller unfences a broker that has read more than its registration."""
    message = seen.message
    if isinstance(message, BrokerHeartbeatRequest) and (
        message.current_metadata_offset == message.broker_epoch
    ):
        message.current_metadata_offset -= 1
        return with_body(seen, message)
    return seen.payload


@told_to_others("BROK-008", r"the late heartbeat is answered as to one that is not fenced")
def a_late_heartbeat_is_forgiven(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller answers a late heartbeat as if the broker were not fenced."""
    if not isinstance(asked, BrokerHeartbeatRequest):
        return
    assert isinstance(answer, BrokerHeartbeatResponse)
    if asked.broker_id in done.epochs and not (asked.want_fence or asked.current_metadata_offset):
        answer.is_fenced = False
    if not answer.is_fenced and not asked.want_fence:
        done.epochs[asked.broker_id] = asked.broker_epoch


@told_to_others("BROK-009", r"want_fence is answered as to one that is not fenced")
def a_wish_to_be_fenced_is_ignored(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller answers a follower that wants to be fenced that it is not."""
    if not isinstance(asked, BrokerHeartbeatRequest) or not asked.want_fence:
        return
    if asked.broker_id in done.replicas[1:]:
        assert isinstance(answer, BrokerHeartbeatResponse)
        answer.is_fenced = False


@told_to_others("BROK-010", r"the reserved 0+-.*1: error is NONE")
def a_lost_directory_is_a_directory(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller accepts one of the ids that mean "no directory" as a log directory."""
    if isinstance(asked, BrokerRegistrationRequest) and asked.log_dirs == [LOST]:
        _turn(answer, ErrorCode.INVALID_REGISTRATION)


@told_to_others("BROK-011", r"an old metadata.version: error is NONE")
def features_are_not_compared(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller registers a broker that is too old for the cluster."""
    features = asked.features if isinstance(asked, BrokerRegistrationRequest) else []
    if any(
        each.name == METADATA_VERSION and each.min_supported_version == each.max_supported_version
        for each in features
    ):
        _turn(answer, ErrorCode.UNSUPPORTED_VERSION)


@told_to_others("BROK-011", r"at \d+, finalized is \d+: error is NONE")
def only_the_metadata_version_is_compared(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller registers a broker that does not support the level of another feature."""
    features = asked.features if isinstance(asked, BrokerRegistrationRequest) else []
    if any(
        each.name != METADATA_VERSION and each.min_supported_version == each.max_supported_version
        for each in features
    ):
        _turn(answer, ErrorCode.UNSUPPORTED_VERSION)


@told_to_others("BROK-006", r"fenced by heartbeats with wrong epochs")
def a_wish_of_any_epoch_is_granted(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller fences a broker by a heartbeat that it refuses."""
    if isinstance(asked, BrokerHeartbeatRequest) and isinstance(answer, BrokerHeartbeatResponse):
        if asked.want_fence and answer.error_code == ErrorCode.STALE_BROKER_EPOCH:
            done.epochs[asked.broker_id] = STALE_WISH
        elif done.epochs.get(asked.broker_id) == STALE_WISH:
            answer.is_fenced = True


@told_to_others("BROK-015", r"epoch \+1: error is NONE")
def a_later_epoch_is_given_a_block(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller allocates producer ids to a broker epoch that is yet to come."""
    _accept_later_epoch(
        done, asked, answer, AllocateProducerIdsRequest, AllocateProducerIdsResponse
    )


@told_to_others("BROK-018", r"fenced by its wish: error is NONE")
def a_fenced_broker_has_no_id(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller registers another incarnation of a broker that was fenced."""
    if isinstance(asked, BrokerHeartbeatRequest) and asked.want_fence:
        done.epochs[asked.broker_id] = asked.broker_epoch
    if isinstance(asked, BrokerRegistrationRequest) and asked.broker_id in done.epochs:
        _turn(answer, ErrorCode.DUPLICATE_BROKER_REGISTRATION)


@told_to_others("BROK-019", r"registered again, fenced before: False: the broker epoch is")
def every_registration_has_an_epoch(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller returns another broker epoch to an incarnation that registers again."""
    if isinstance(asked, BrokerRegistrationRequest):
        assert isinstance(answer, BrokerRegistrationResponse)
        if done.epochs.setdefault(asked.broker_id, -1) == answer.broker_epoch:
            answer.broker_epoch += 1
        elif answer.error_code == ErrorCode.NONE:
            done.epochs[asked.broker_id] = answer.broker_epoch


@told_to_others("BROK-019", r"again in its controlled shutdown: the ISR of a new topic is \(\d+, ")
def a_registration_ends_a_shutdown(done: Replicas, asked: Message, answer: Message) -> None:
    """A broker that registers again in its controlled shutdown counts as not shutting down."""
    if isinstance(asked, BrokerHeartbeatRequest) and asked.want_shut_down:
        done.epochs[SHUTS_DOWN] = asked.broker_id
    if isinstance(asked, BrokerRegistrationRequest):
        done.epochs[REGISTERED] = asked.broker_id
    again = done.epochs.get(REGISTERED)
    if not isinstance(answer, MetadataResponse) or again != done.epochs.get(SHUTS_DOWN):
        return
    for topic in answer.topics:
        for each in topic.partitions:
            if again in each.replica_nodes[1:]:
                each.isr_nodes = list(each.replica_nodes)


@told_to_replicas("BROK-012", r"broker epoch \d+: error is NONE")
def an_old_broker_epoch_may_fetch(_: Replicas, data: Answered) -> None:
    """The leader does not compare the broker epoch of a Fetch."""
    if data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        data.error_code = ErrorCode.NONE


@told_to_others("BROK-015", r"the blocks overlap")
def every_block_is_the_first(done: Replicas, _: Message, answer: Message) -> None:
    """The controller allocates the first block of producer ids again and again."""
    if isinstance(answer, AllocateProducerIdsResponse) and answer.error_code == ErrorCode.NONE:
        answer.producer_id_start = done.epochs.setdefault(-1, answer.producer_id_start)


@told_to_others("BROK-016", r"error is NONE \(0\), expected NOT_LEADER_OR_FOLLOWER")
def any_replica_is_taken(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller reports a replica of another broker as recorded."""
    if not isinstance(answer, AssignReplicasToDirsResponse):
        return
    for directory in answer.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                if partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    partition.error_code = ErrorCode.NONE


@told_to_others("SHUT-004", r"it may shut down at once, and leads a partition")
def a_leader_may_go_at_once(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller lets the leader of the newest topic shut down before another one leads it."""
    if _stops_first(done, asked) and not done.timed_out:
        assert isinstance(answer, BrokerHeartbeatResponse)
        answer.should_shut_down = done.timed_out = True


def _stops_first(done: Replicas, asked: Message) -> bool:
    """True for a heartbeat of the first replica of the newest topic that wants to shut down."""
    if not isinstance(asked, BrokerHeartbeatRequest):
        return False
    return asked.want_shut_down and asked.broker_id == done.replicas[0]


@told_to_others("SHUT-006", r"it may shut down, and an active broker has not read that it does")
def a_leader_may_go_when_another_leads(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller grants a shutdown when the leaders have moved, whatever the others know."""
    if _stops_first(done, asked):
        assert isinstance(answer, BrokerHeartbeatResponse)
        answer.should_shut_down |= done.timed_out
        done.timed_out = True


@told_to_others("SHUT-006", r"the active broker has read the metadata, and it may not shut down")
def a_broker_that_stops_must_have_read_all(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller grants no shutdown to a broker that has not read its own changes."""
    if isinstance(asked, BrokerHeartbeatRequest) and isinstance(answer, BrokerHeartbeatResponse):
        answer.should_shut_down &= asked.current_metadata_offset > asked.broker_epoch


@told_to_others("SHUT-002", r"it shuts down, and the ISR that it follows is \(1, \d+\)")
def only_leaders_leave_at_once(done: Replicas, asked: Message, answer: Message) -> None:
    """A broker that shuts down stays in the ISRs that it follows until it has stopped."""
    if isinstance(asked, BrokerHeartbeatRequest) and asked.want_shut_down:
        done.stopping.add(asked.broker_id)
    if not isinstance(answer, MetadataResponse) or done.acks:
        return
    for topic in answer.topics:
        for partition in topic.partitions:
            is_newest = partition.replica_nodes == done.replicas
            left = done.stopping.intersection(done.replicas[1:]) if is_newest else ()
            partition.isr_nodes = [*partition.isr_nodes, *left]


@told_to_others("SHUT-005", r"the ISR is \(1, \d+\)")
def who_shuts_down_is_in_the_isr_again(done: Replicas, asked: Message, answer: Message) -> None:
    """Metadata shows a follower that shuts down in the ISR if it fetches at the log end."""
    if isinstance(asked, BrokerHeartbeatRequest) and asked.want_shut_down:
        done.timed_out = True
    if not isinstance(answer, MetadataResponse) or not done.timed_out:
        return
    member = done.replicas[1]
    for topic in answer.topics:
        for partition in topic.partitions:
            is_newest = partition.replica_nodes == done.replicas
            if is_newest and len(done.r2) > 1 and member not in partition.isr_nodes:
                partition.isr_nodes = [*partition.isr_nodes, member]


@told_to_others("SHUT-005", r"a new partition has the leader \d+ and the ISR \(1, \d+\), expected")
def who_shuts_down_leads_new_partitions(done: Replicas, asked: Message, answer: Message) -> None:
    """A broker that shuts down leads new partitions as their first replica."""
    if isinstance(asked, BrokerHeartbeatRequest) and asked.want_shut_down:
        done.stopping.add(asked.broker_id)
        done.timed_out = True  # the newest topic is from before
    if not isinstance(answer, MetadataResponse) or done.timed_out:
        return
    for topic in answer.topics:
        for partition in topic.partitions:
            first = partition.replica_nodes[0]
            is_newest = partition.replica_nodes == done.replicas
            if is_newest and first in done.stopping:
                partition.leader_id, partition.isr_nodes = first, list(done.replicas)


DEFECTS = [
    only_leaders_leave_at_once,
    brokers_of_other_clusters_are_welcome,
    a_second_broker_takes_the_id,
    an_id_keeps_its_epoch,
    an_epoch_to_come_is_good,
    whoever_reads_is_caught_up,
    the_record_after_the_registration_counts,
    a_late_heartbeat_is_forgiven,
    a_wish_to_be_fenced_is_ignored,
    a_lost_directory_is_a_directory,
    features_are_not_compared,
    only_the_metadata_version_is_compared,
    a_wish_of_any_epoch_is_granted,
    a_later_epoch_is_given_a_block,
    an_old_broker_epoch_may_fetch,
    every_block_is_the_first,
    any_replica_is_taken,
    a_fenced_broker_has_no_id,
    every_registration_has_an_epoch,
    a_registration_ends_a_shutdown,
    a_leader_may_go_when_another_leads,
    a_broker_that_stops_must_have_read_all,
    a_leader_may_go_at_once,
    who_shuts_down_is_in_the_isr_again,
    who_shuts_down_leads_new_partitions,
]
