"""Defects of areas RECV, STOR, DELR, CONF and OTOP: one field of an answer is lost by a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.client.requests import EARLIEST, MAX_TIMESTAMP
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    DescribeLogDirsResponse,
    DescribeProducersResponse,
    FetchResponse,
    MetadataResponse,
    OffsetFetchResponse,
    OffsetForLeaderEpochResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import BatchHeader, RecordBatch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.asked_times import asked_and_told, told_of
from labs.defects.defect import edited, rule
from labs.defects.nested_structs import structs_at
from labs.defects.prod import change_stored
from labs.defects.started_again import StartedAgain, after_start
from labs.defects.stored_entries import change_entries, without_time
from suites.durability import test_interrupted_compaction, test_logs_after_restart
from suites.durability import test_whole_logs_after_restart as of_logs
from suites.durability import test_whole_state_after_restart as of_state
from suites.durability.support.restarts import ENDS

LOGS, STATE = of_logs.PARTITIONS, of_state.PARTITIONS
ROUNDS = len(ENDS)
ALL_BROKERS = 3  # the source of a config of all brokers


@after_start("RECV-018", r"after a stop, Fetch .*headers", partitions=LOGS["RECV-018"], rolled=True)
def headers_are_not_kept(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """Fetch returns records that were stored before the restart without headers."""

    def change(batch: RecordBatch) -> RecordBatch:
        return replace(batch, records=[replace(one, headers=()) for one in batch.records])

    if isinstance(answer, FetchResponse):
        change_stored(answer, change)


@after_start("RECV-031", r"after a stop, Fetch .*timestamp is -1", partitions=1, rolled=True)
def times_of_messages_are_not_kept(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """Fetch returns messages of magic 1 that were stored before the restart without times."""
    if isinstance(answer, FetchResponse):
        change_entries(answer, without_time)


@after_start(
    "STOR-030",
    r"the segment that is written to begins at 3, not 2",
    partitions=test_logs_after_restart.PARTITIONS["STOR-030"],
    rolled=True,
)
def retention_removes_a_record_more(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """After a start retention removes a record of the segment that is written to."""
    for timestamp, one in asked_and_told(seen.message, answer):
        one.offset += timestamp == EARLIEST and one.offset == 2


@after_start(
    "RECV-019", r"after a stop, .*leader_epoch is -1", partitions=LOGS["RECV-019"], rolled=True
)
def an_offset_by_time_has_no_epoch(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """ListOffsets returns the offset for a time without the leader epoch."""
    for timestamp, one in asked_and_told(seen.message, answer):
        if timestamp >= 0:
            one.leader_epoch = -1


@after_start(
    "RECV-019", r"after a stop, ListOffsets largest", partitions=LOGS["RECV-019"], rolled=True
)
def the_largest_time_is_unknown(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """ListOffsets finds no largest timestamp in a log that was stored before the restart."""
    for one in told_of(seen.message, answer, MAX_TIMESTAMP):
        one.offset = one.timestamp = -1


@after_start(
    "RECV-020", r"after a stop, .*end_offset is -1", partitions=LOGS["RECV-020"], rolled=True
)
def earlier_epochs_are_unknown(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """OffsetForLeaderEpoch returns no end for an epoch before the restart."""
    if isinstance(answer, OffsetForLeaderEpochResponse):
        for one in structs_at(answer, "topics", "partitions"):
            one.end_offset = one.leader_epoch = -1


@after_start(
    "RECV-021", r"after a stop, .*last_sequence is", partitions=LOGS["RECV-021"], rolled=True
)
def the_last_sequence_is_unknown(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """DescribeProducers returns no sequence of a batch before the restart."""
    if isinstance(answer, DescribeProducersResponse):
        for producer in structs_at(answer, "topics", "partitions", "active_producers"):
            producer.last_sequence = -1


@after_start(
    "RECV-021", r"the former epoch: error is NONE", partitions=LOGS["RECV-021"], rolled=True
)
def the_former_epoch_is_taken(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker acknowledges a batch of an epoch that was over before the restart."""
    if isinstance(answer, ProduceResponse):
        for one in structs_at(answer, "responses", "partition_responses"):
            if one.error_code == ErrorCode.INVALID_PRODUCER_EPOCH:
                one.error_code = int(ErrorCode.NONE)


@after_start("RECV-021", r"after a stop, a batch at offset 0: error is", partitions=ROUNDS)
def a_wrapped_batch_is_unknown(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """The broker forgets at a restart a batch whose last sequence is below its first one."""
    if isinstance(seen.message, ProduceRequest) and isinstance(answer, ProduceResponse):
        data = seen.message.topic_data[0].partition_data[0].records or b""
        if BatchHeader.read(data).base_sequence > 1:
            for one in answer.responses[0].partition_responses:
                one.error_code = int(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


@after_start("RECV-022", r"after a stop, .*group_instance_id is", partitions=STATE["RECV-022"])
def instance_ids_are_unknown(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """DescribeGroups returns members without instance ids."""
    if isinstance(answer, DescribeGroupsResponse):
        for member in structs_at(answer, "groups", "members"):
            member.group_instance_id = None


@after_start("RECV-023", r"after a stop, .*synonyms\{\} is", partitions=STATE["RECV-023"])
def configs_of_all_brokers_are_no_synonyms(
    _: StartedAgain, __: SeenRequest, answer: Message
) -> None:
    """DescribeConfigs does not list the values of all brokers among the synonyms."""
    if isinstance(answer, DescribeConfigsResponse):
        for config in structs_at(answer, "results", "configs"):
            config.synonyms = [one for one in config.synonyms if one.source != ALL_BROKERS]


class QuotasOfDefaultsAreForgotten(FrameRule):
    """A broker that is started again has no quotas of default entities."""

    def __init__(self) -> None:
        self.made_on: int | None = None

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, AlterClientQuotasRequest) and self.made_on is None:
            self.made_on = seen.place.connection
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_again = self.made_on is not None and seen.place.connection > self.made_on
        return [edited(seen, payload, _without_defaults) if is_again else payload]


def _without_defaults(_: SeenRequest, answer: Message) -> None:
    if isinstance(answer, DescribeClientQuotasResponse):
        answer.entries = [
            each
            for each in answer.entries or []
            if all(one.entity_name is not None for one in each.entity)
        ]


@after_start("RECV-025", r"after a stop, Metadata of all.*partitions", partitions=STATE["RECV-025"])
def added_partitions_are_unknown(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """Metadata does not list partitions that were added to a topic."""
    if isinstance(answer, MetadataResponse):
        for topic in answer.topics:
            if len(topic.partitions) == of_state.GROWN:
                topic.partitions.pop()


@after_start(
    "RECV-026", r"after a stop, .*partition_size is", partitions=LOGS["RECV-026"], rolled=True
)
def logs_have_no_size(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """DescribeLogDirs returns 0 as the size of each log that was stored before the restart."""
    if isinstance(answer, DescribeLogDirsResponse):
        for one in structs_at(answer, "results", "topics", "partitions"):
            one.partition_size = 0


@after_start(
    "DELR-007", r"after a stop, .*error_code is 1", partitions=len(of_logs.DELETED_BELOW),
    rolled=True,
)  # fmt: skip
def logs_start_at_zero(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """ListOffsets returns 0 as the beginning of each log that was stored before the restart."""
    for one in told_of(seen.message, answer, EARLIEST):
        one.offset = 0


@after_start("OTOP-004", r"committed_leader_epoch is -1, before 3", partitions=STATE["OTOP-004"])
def leader_epochs_are_not_kept(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """OffsetFetch returns commits that were made before the restart without leader epochs."""
    if isinstance(answer, OffsetFetchResponse):
        for one in structs_at(answer, "groups", "topics", "partitions"):
            one.committed_leader_epoch = -1


@after_start("CONF-015", r"max.message.bytes\}.config_source is 5",
             partitions=STATE["CONF-015"], rolled=True)  # fmt: skip
def later_configs_are_defaults(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """DescribeConfigs returns a config that was set before the restart as a default."""
    if isinstance(answer, DescribeConfigsResponse):
        for config in structs_at(answer, "results", "configs"):
            if config.name == "max.message.bytes":
                config.config_source = 5


@after_start(
    "RECV-027",
    r"after a crash, .*records\{\} is",
    partitions=len(test_interrupted_compaction.LEFT),
    rolled=True,
)
def interrupted_compactions_cost_records(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """Fetch returns nothing from logs with an interrupted compaction."""
    if isinstance(answer, FetchResponse):
        for topic in answer.responses:
            for one in topic.partitions:
                one.records = b""


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        headers_are_not_kept,
        times_of_messages_are_not_kept,
        retention_removes_a_record_more,
        an_offset_by_time_has_no_epoch,
        the_largest_time_is_unknown,
        earlier_epochs_are_unknown,
        the_last_sequence_is_unknown,
        the_former_epoch_is_taken,
        a_wrapped_batch_is_unknown,
        instance_ids_are_unknown,
        configs_of_all_brokers_are_no_synonyms,
        rule("RECV-024", r"after a stop, DescribeClientQuotas", QuotasOfDefaultsAreForgotten),
        added_partitions_are_unknown,
        logs_have_no_size,
        logs_start_at_zero,
        leader_epochs_are_not_kept,
        interrupted_compactions_cost_records,
        later_configs_are_defaults,
    )
]
