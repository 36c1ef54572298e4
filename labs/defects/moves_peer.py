"""Defects of ACKS, DELR, LISTO, REASG, REPL, TOPIC, before a broker that virtual ones joined."""

from __future__ import annotations

from copy import copy

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreateTopicsResponse,
    DeleteRecordsResponse,
    ListOffsetsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from labs.defects.replicas import Answered, Replicas, told_to_consumers, told_to_others


def _produced(answer: Message) -> ProduceResponse.PartitionProduceResponse | None:
    if not isinstance(answer, ProduceResponse):
        return None
    return answer.responses[0].partition_responses[0]


@told_to_others("ACKS-005", r"not two: error is NONE \(0\), expected NOT_ENOUGH_REPLICAS")
def a_leader_alone_is_enough_for_all(_: Replicas, __: Message, answer: Message) -> None:
    """The leader acknowledges acks=all when too few replicas have the records."""
    told = _produced(answer)
    if told is not None and told.error_code == ErrorCode.NOT_ENOUGH_REPLICAS:
        told.error_code, told.base_offset = ErrorCode.NONE, 1


@told_to_others("ACKS-008", r"NOT_ENOUGH_REPLICAS \(19\)")
def the_minimum_counts_for_acks_1(done: Replicas, asked: Message, answer: Message) -> None:
    """The leader refuses acks=1 too below min.insync.replicas."""
    told = _produced(answer)
    few = done.has_configs and len(done.replicas) == 3 and done.acks == [1, 1]
    if told is not None and isinstance(asked, ProduceRequest) and few:
        told.error_code, told.base_offset = ErrorCode.NOT_ENOUGH_REPLICAS, -1


@told_to_others("DELR-006", r"begins at 0: error is NONE \(0\), expected REQUEST_TIMED_OUT")
def a_deletion_waits_for_nobody(_: Replicas, __: Message, answer: Message) -> None:
    """DeleteRecords reports records as deleted that a replica keeps."""
    if isinstance(answer, DeleteRecordsResponse):
        told = answer.topics[0].partitions[0]
        if told.error_code == ErrorCode.REQUEST_TIMED_OUT:
            told.error_code, told.low_watermark = ErrorCode.NONE, 2


def _moving(
    answer: Message,
) -> ListPartitionReassignmentsResponse.OngoingPartitionReassignment | None:
    if not isinstance(answer, ListPartitionReassignmentsResponse) or not answer.topics:
        return None
    return answer.topics[0].partitions[0]


@told_to_others("REASG-002", r"\(adding, removing\) is \(\{\d+\}, set\(\)\)")
def what_is_removed_is_not_told(_: Replicas, __: Message, answer: Message) -> None:
    """ListPartitionReassignments lists only the replicas that are added."""
    moving = _moving(answer)
    if moving is not None:
        moving.removing_replicas = []


@told_to_others("REASG-003", r"it is done, and one of the new replicas has nothing")
def one_of_the_new_replicas_is_enough(done: Replicas, _: Message, answer: Message) -> None:
    """A reassignment counts as done when the first new replica is in sync."""
    moving = _moving(answer)
    if moving is None or len(moving.adding_replicas) != 2:
        return
    if any(each in done.asked for each in moving.adding_replicas):
        assert isinstance(answer, ListPartitionReassignmentsResponse)
        answer.topics = []


@told_to_others("REPL-032", r"not within .*: nothing moves, and the replicas are")
def kept_replicas_are_awaited_too(done: Replicas, asked: Message, answer: Message) -> None:
    """A reassignment that only adds replicas waits for the others, too: it stays listed."""
    if not isinstance(answer, ListPartitionReassignmentsResponse):
        return
    assert isinstance(asked, ListPartitionReassignmentsRequest)
    moving = _moving(answer)
    if moving is not None:
        done.timed_out = not moving.removing_replicas
    elif done.timed_out and asked.topics:
        still = ListPartitionReassignmentsResponse.OngoingPartitionReassignment(partition_index=0)
        topic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
        answer.topics = [topic(name=asked.topics[0].name, partitions=[still])]


@told_to_others("REASG-005", r"nothing moves: error is NONE \(0\)")
def nothing_can_be_cancelled(_: Replicas, __: Message, answer: Message) -> None:
    """The controller accepts a cancellation where no reassignment is in progress."""
    if isinstance(answer, AlterPartitionReassignmentsResponse):
        told = answer.responses[0].partitions[0]
        if told.error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS:
            told.error_code, told.error_message = ErrorCode.NONE, None


@told_to_others("REASG-005", r"after the cancellation the ISR is \(\d+, \d+, \d+\)")
def an_added_replica_stays_in_sync(done: Replicas, asked: Message, answer: Message) -> None:
    """A cancelled reassignment leaves an added replica in the ISR."""
    if isinstance(asked, AlterPartitionReassignmentsRequest):
        replicas = asked.topics[0].partitions[0].replicas
        done.moves.append(list(replicas or ()))
    is_cancelled = [len(each) for each in done.moves] == [3, 0]
    if not is_cancelled or not isinstance(answer, MetadataResponse):
        return
    for topic in answer.topics:
        for each in topic.partitions:
            if each.replica_nodes == done.replicas:
                each.isr_nodes = [*each.isr_nodes, done.moves[0][1]]


@told_to_others("REASG-005", r"after the cancellation the replicas are \[\d+, \d+\], not")
def a_cancellation_sorts_the_replicas(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller sorts the replicas of a cancelled reassignment by their ids."""
    if isinstance(asked, AlterPartitionReassignmentsRequest):
        replicas = asked.topics[0].partitions[0].replicas
        done.moves.append(list(replicas or ()))
    is_cancelled = [len(each) for each in done.moves] == [2, 3, 0]
    if is_cancelled and isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            for each in topic.partitions:
                each.replica_nodes = sorted(each.replica_nodes)


@told_to_others("REASG-005", r"the partitions \{\d\} move, expected 0 and 2")
def a_cancellation_is_of_several_partitions(
    done: Replicas, asked: Message, answer: Message
) -> None:
    """A cancellation ends the reassignment of another partition of the topic, too."""
    if isinstance(asked, AlterPartitionReassignmentsRequest):
        moved = asked.topics[0].partitions
        done.moves.append([each.partition_index for each in moved])
    if done.moves == [[0, 1, 2], [1]] and isinstance(answer, ListPartitionReassignmentsResponse):
        for topic in answer.topics:
            topic.partitions = topic.partitions[:1]


@told_to_others("REASG-006", r"the errors are \{0: 39, ")
def one_bad_target_refuses_all(_: Replicas, __: Message, answer: Message) -> None:
    """A bad target of one partition refuses the moves of all partitions of the request."""
    if isinstance(answer, AlterPartitionReassignmentsResponse):
        every = [each for topic in answer.responses for each in topic.partitions]
        bad = ErrorCode.INVALID_REPLICA_ASSIGNMENT
        if len(every) > 1 and any(each.error_code == bad for each in every):
            for each in every:
                each.error_code = bad


@told_to_consumers("REASG-013", r"three records: .* high watermark 2")
def a_removed_replica_counts(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark waits for a replica that a reassignment has removed."""
    fetched = list(done.asked.values())
    if len(done.acks) == 3 and [2] in fetched and [0, 2, 3] in fetched:
        data.high_watermark = 2


@told_to_others("REASG-009", r"not within .*: only the broker of the second move is added")
def the_first_move_goes_on(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller accepts a second move, and still adds the brokers of the first one."""
    if isinstance(asked, AlterPartitionReassignmentsRequest):
        replicas = asked.topics[0].partitions[0].replicas
        done.moves.append(list(replicas or ()))
    moving = _moving(answer)
    if moving is not None and len(done.moves) == 2 and all(done.moves):
        moving.adding_replicas = [*moving.adding_replicas, done.moves[0][-1]]


@told_to_others("REASG-010", r"requested \{'[^']*': \[2\]\}: listed are \{.* 0\): .* 2\):")
def a_topic_is_listed_whole(_: Replicas, __: Message, answer: Message) -> None:
    """ListPartitionReassignments returns all partitions of a topic that move, requested or not."""
    if not isinstance(answer, ListPartitionReassignmentsResponse):
        return
    for topic in answer.topics:
        if [each.partition_index for each in topic.partitions] == [2]:
            first = copy(topic.partitions[0])
            first.partition_index = 0
            topic.partitions = [first, *topic.partitions]


@told_to_others("REASG-011", r"to \[\d+\], in progress is \{\}: error is NONE")
def any_number_of_replicas_is_taken(_: Replicas, __: Message, answer: Message) -> None:
    """The controller accepts every number of replicas, also where it must not change."""
    if isinstance(answer, AlterPartitionReassignmentsResponse):
        told = answer.responses[0].partitions[0]
        if told.error_code == ErrorCode.INVALID_REPLICATION_FACTOR:
            told.error_code, told.error_message = ErrorCode.NONE, None


@told_to_others("TOPIC-036", r"both brokers are fenced: error is NONE \(0\)")
def a_topic_is_made_where_nobody_is(_: Replicas, __: Message, answer: Message) -> None:
    """The controller accepts an assignment to fenced brokers alone."""
    if isinstance(answer, CreateTopicsResponse):
        for topic in answer.topics:
            if topic.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT:
                topic.error_code, topic.error_message = ErrorCode.NONE, None


@told_to_others("LISTO-014", r"has confirmed nothing: error is NONE \(0\)")
def a_new_leader_knows_its_old_end(_: Replicas, __: Message, answer: Message) -> None:
    """A new leader returns its old high watermark, even if its epoch begins later."""
    if isinstance(answer, ListOffsetsResponse):
        told = answer.topics[0].partitions[0]
        if told.error_code in (ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.LEADER_NOT_AVAILABLE):
            told.error_code, told.offset = ErrorCode.NONE, 0


@told_to_others("REASG-012", r"the leader epoch is 0, before it was 0")
def a_removal_leaves_the_leader_epoch(_: Replicas, __: Message, answer: Message) -> None:
    """The controller begins no leader epoch when it removes a replica."""
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            for each in topic.partitions:
                each.leader_epoch = 0


DEFECTS = [
    a_new_leader_knows_its_old_end,
    a_leader_alone_is_enough_for_all,
    the_minimum_counts_for_acks_1,
    a_deletion_waits_for_nobody,
    what_is_removed_is_not_told,
    one_of_the_new_replicas_is_enough,
    kept_replicas_are_awaited_too,
    nothing_can_be_cancelled,
    an_added_replica_stays_in_sync,
    a_cancellation_sorts_the_replicas,
    a_cancellation_is_of_several_partitions,
    one_bad_target_refuses_all,
    a_removed_replica_counts,
    the_first_move_goes_on,
    a_topic_is_listed_whole,
    any_number_of_replicas_is_taken,
    a_topic_is_made_where_nobody_is,
    a_removal_leaves_the_leader_epoch,
]
