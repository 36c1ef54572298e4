"""Defects of a cluster with harmed nodes: its answers and records when a broker is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    DeleteTopicsRequest,
    ElectLeadersResponse,
    FetchResponse,
    HeartbeatResponse,
    InitProducerIdResponse,
    ListGroupsResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
    SyncGroupResponse,
)
from harness.codec.records import decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from
from labs.defects.one_node import at, of_broker, of_cluster

EARLIEST, LATEST = -2, -1
LOST = b"7"
TOO_FEW = frozenset({ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND})


def _metadata(message: Message) -> MetadataResponse:
    assert isinstance(message, MetadataResponse)
    return message


def _partitions(message: Message) -> list[MetadataResponse.MetadataResponsePartition]:
    return [each for topic in _metadata(message).topics for each in topic.partitions]


def _fetched(message: FetchResponse) -> list[FetchResponse.PartitionData]:
    return [each for topic in message.responses for each in topic.partitions]


@answers("META-012", r"with None down: \(1, 2, 3\)", range(1, 13))
def replicas_are_told_by_their_ids(answer: MetadataResponse) -> None:
    """Metadata lists replicas in the order of their ids (v1 to v12)."""
    for each in _partitions(answer):
        each.replica_nodes = sorted(each.replica_nodes)


@answers("META-016", r"lists \[1, 2, 99\]", range(1))
def a_broker_from_long_ago_is_listed(answer: MetadataResponse) -> None:
    """Metadata v0 lists a broker that left long ago."""
    gone = MetadataResponse.MetadataResponseBroker(node_id=99, host="gone", port=1)
    answer.brokers.append(gone)


class EpochsGoBackNowAndThen(FrameRule):
    """Every fifth answer of Metadata contains the leader epoch before."""

    def __init__(self) -> None:
        self.count = 0

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "Metadata":
            return [payload]
        self.count += 1
        return [payload if self.count % 5 else edited(seen, payload, self._older)]

    def _older(self, seen: SeenRequest, message: Message) -> None:
        if seen.version >= 7:
            for each in _partitions(message):
                each.leader_epoch -= 1


@answers("EPOCH-006", r"diverging epoch", range(12, 99))
def logs_diverge_one_later(answer: FetchResponse) -> None:
    """Fetch returns a diverging epoch that ends one offset later."""
    for each in _fetched(answer):
        if each.diverging_epoch.end_offset >= 0:
            each.diverging_epoch.end_offset += 1


@answers("EPOCH-012", r"\(offset, epoch\)", range(11, 99))
def all_batches_are_of_the_first_epoch(answer: FetchResponse) -> None:
    """All batches have the leader epoch 0."""
    for each in _fetched(answer):
        if each.records:
            batches = decode_batches(bytes(each.records))
            each.records = b"".join(
                encode_batch(replace(batch, partition_leader_epoch=0)) for batch in batches
            )


@answers("FETCH-018", r"sent to 99, in the rack is", range(11, 99))
def consumers_are_sent_to_nobody(answer: FetchResponse) -> None:
    """Fetch names a broker that does not exist as the preferred read replica."""
    for each in _fetched(answer):
        if each.preferred_read_replica >= 0:
            each.preferred_read_replica = 99


def _offsets(
    request: ListOffsetsRequest, answer: ListOffsetsResponse
) -> list[tuple[int, ListOffsetsResponse.ListOffsetsPartitionResponse]]:
    """The requested time and the answer of each partition."""
    return [
        (wanted.timestamp, each)
        for topic, of in zip(answer.topics, request.topics, strict=True)
        for each, wanted in zip(topic.partitions, of.partitions, strict=True)
    ]


@answers("LISTO-010", r"time -2: \(0, 1\), expected \(0, 0\)")
def the_first_offset_is_of_the_next_epoch(
    request: ListOffsetsRequest, answer: ListOffsetsResponse
) -> None:
    """ListOffsets returns the beginning of the log with the epoch after its own."""
    for timestamp, each in _offsets(request, answer):
        if timestamp == EARLIEST:
            each.leader_epoch += 1


@answers("LISTO-012", r"error is NONE .*expected FENCED_LEADER_EPOCH")
def old_epochs_are_told_offsets(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The broker accepts a ListOffsets with an older leader epoch."""
    for _, each in _offsets(request, answer):
        if each.error_code == ErrorCode.FENCED_LEADER_EPOCH:
            each.error_code = ErrorCode.NONE


@answers("DELR-007", r"its log starts at 0")
def the_log_starts_at_zero_again(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """ListOffsets returns 0 as the beginning of every log."""
    for timestamp, each in _offsets(request, answer):
        if timestamp == EARLIEST:
            each.offset = 0


class ForgottenProducers(FrameRule):
    """The broker refuses a repeated batch as out of order."""

    def __init__(self) -> None:
        self.seen_before: set[bytes] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        asked = seen.message
        if not isinstance(asked, ProduceRequest) or seen.api is None:
            return [payload]
        records = bytes(asked.topic_data[0].partition_data[0].records or b"")
        if records not in self.seen_before:
            self.seen_before.add(records)
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, ProduceResponse)
        for topic in message.responses:
            for each in topic.partition_responses:
                each.error_code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return [encode_response(message, seen.version, correlation_id)]


def _single_offsets(
    message: OffsetFetchResponse,
) -> list[OffsetFetchResponse.OffsetFetchResponsePartitions]:
    """The offset in an answer about one partition of one group, from v8 on; else an empty list."""
    found = [
        each for group in message.groups for topic in group.topics for each in topic.partitions
    ]
    return found if len(found) == 1 else []


@answers("OFFS-015", r"\(offset, metadata\) is \(1, ''\), expected \(2")
def the_last_commit_is_lost(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the first of two commits."""
    for each in _single_offsets(answer):
        if each.committed_offset == 2:
            each.committed_offset = 1


@answers("COORD-004", r"\(offset, metadata\) is \(0, ''\), expected \(7")
def the_next_coordinator_has_nothing(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns 0 instead of the committed offset."""
    for each in _single_offsets(answer):
        if each.committed_offset == 7:
            each.committed_offset = 0


class GroupsOfOthersAreListed(FrameRule):
    """A broker lists groups that other brokers have listed before."""

    def __init__(self) -> None:
        self.listed: dict[str, ListGroupsResponse.ListedGroup] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "ListGroups":
            return [payload]
        return [edited(seen, payload, self._more)]

    def _more(self, seen: SeenRequest, message: ListGroupsResponse) -> None:
        del seen
        self.listed |= {group.group_id: group for group in message.groups}
        message.groups = list(self.listed.values())


class AcknowledgedAndLost(FrameRule):
    """The broker acknowledges one record among many, and stores another one in its place."""

    lost = LOST

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if not isinstance(asked, ProduceRequest):
            return seen.payload
        part = asked.topic_data[0].partition_data[0]
        (batch, *_) = decode_batches(bytes(part.records or b""))
        if [record.value for record in batch.records] != [self.lost]:
            return seen.payload
        records = [replace(record, value=b"another") for record in batch.records]
        part.records = encode_batch(replace(batch, records=records, crc=None, batch_length=None))
        return with_body(seen, asked)


class LostInARollingRestart(AcknowledgedAndLost):
    """The broker acknowledges one record among many, and stores another one in its place."""


class LostWhenAllAreKilled(AcknowledgedAndLost):
    """The broker acknowledges one record among many, and stores another one in its place."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return seen.payload if is_from(seen, "REPL-022") else super().on_request(seen)


class DeletedTopicsComeBack(FrameRule):
    """The third broker lists all topics that were ever deleted."""

    def __init__(self) -> None:
        self.deleted: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if isinstance(asked, DeleteTopicsRequest):
            self.deleted |= {topic.name for topic in asked.topics if topic.name}
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        asked = seen.message
        wants_all = isinstance(asked, MetadataRequest) and asked.topics is None
        return [edited(seen, payload, self._more)] if wants_all and at(3, seen) else [payload]

    def _more(self, seen: SeenRequest, message: Message) -> None:
        del seen
        _metadata(message).topics += [
            MetadataResponse.MetadataResponseTopic(name=name) for name in sorted(self.deleted)
        ]


DEFECTS = of_cluster(
    [
        changed_field("META-011", "nobody_leads_and_nothing_is_wrong",
            r"the partition: error is NONE",
            "Metadata returns a partition without a leader without an error.",
            MetadataResponse, "topics.partitions.error_code",
            ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NONE),
        replicas_are_told_by_their_ids,
        changed_field("META-014", "v0_does_not_tell_of_dead_replicas",
            r"the partition: error is NONE",
            "Metadata v0 returns no error for a replica that is down.",
            MetadataResponse, "topics.partitions.error_code",
            ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.NONE, range(1)),
        changed_field("META-015", "no_replica_is_offline",
            r"offline replicas are \[\], dead are \[3\]",
            "Metadata v5 lists no replica as offline.",
            MetadataResponse, "topics.partitions.offline_replicas", ANY, [], range(5, 6)),
        a_broker_from_long_ago_is_listed,
        rule("META-021", r"told epoch|the leader epoch went back", EpochsGoBackNowAndThen),
        logs_diverge_one_later,
        all_batches_are_of_the_first_epoch,
        consumers_are_sent_to_nobody,
        changed_field("FETCH-023", "old_epochs_may_fetch",
            r"error is NONE .*expected FENCED_LEADER_EPOCH",
            "The broker accepts a Fetch with an older leader epoch.",
            FetchResponse, "responses.partitions.error_code",
            ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NONE),
        the_first_offset_is_of_the_next_epoch,
        old_epochs_are_told_offsets,
        the_log_starts_at_zero_again,
        changed_field("DELR-008", "a_follower_starts_at_zero", r"its log starts at 0",
            "The third broker returns 0 as its log start offset.",
            FetchResponse, "responses.partitions.log_start_offset", ANY, 0, asked=of_broker(3)),
        changed_field("IDEM-002", "the_same_id_after_a_restart", r"gives 7 again",
            "All producers receive the same id.",
            InitProducerIdResponse, "producer_id", ANY, 7),
        changed_field("IDEM-012", "after_a_restart_any_sequence_is_next",
            r"a gap: error is NONE",
            "The third broker accepts a gap before a batch of a producer that it knows.",
            ProduceResponse, "responses.partition_responses.error_code",
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.NONE, asked=of_broker(3)),
        rule("IDEM-012", r"error is OUT_OF_ORDER_SEQUENCE_NUMBER", ForgottenProducers),
        the_last_commit_is_lost,
        the_next_coordinator_has_nothing,
        rule("GRP-032", r"too many", GroupsOfOthersAreListed),
        changed_field("GRP-041", "members_are_forgotten", r"error is UNKNOWN_MEMBER_ID",
            "The broker answers a member's heartbeat with UNKNOWN_MEMBER_ID.",
            HeartbeatResponse, "error_code", ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID),
        changed_field("COORD-009", "a_sync_that_waits_begins_again",
            r"the sync that waits: error is REBALANCE_IN_PROGRESS",
            "A broker that is no coordinator any more lets the members that wait join it again.",
            SyncGroupResponse, "error_code",
            ErrorCode.NOT_COORDINATOR, ErrorCode.REBALANCE_IN_PROGRESS),
        changed_field("COORD-010", "deleted_offsets_come_back",
            r"offsets \(-1, -?\d\): the offsets are",
            "OffsetFetch returns an offset of 7 where there is none, from v8 on.",
            OffsetFetchResponse, "groups.topics.partitions.committed_offset", -1, 7),
        changed_field("ACKS-011", "too_few_are_enough", r"two are lost: NONE",
            "The broker acknowledges a record though too few replicas are in sync.",
            ProduceResponse, "responses.partition_responses.error_code", TOO_FEW, ErrorCode.NONE),
        rule("ACKS-015", r"lost_write", AcknowledgedAndLost),
        rule("SHUT-003", r"lost_write", LostInARollingRestart),
        rule("REPL-030", r"lost_write", LostWhenAllAreKilled),
        changed_field("ELECT-010", "the_dead_are_elected", r"it is down: error is NONE",
            "ElectLeaders reports a preferred leader as elected, dead or not.",
            ElectLeadersResponse, "replica_election_results.partition_result.error_code",
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, ErrorCode.NONE),
        rule("TOPIC-033", r"the deleted topic is known to \[3\]", DeletedTopicsComeBack),
    ],
    private=True,
)  # fmt: skip
