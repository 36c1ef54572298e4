"""Defects of area SPEC: one field of the responses of one API is wrong, in its conversations.

A wrong response of CreateTopics would show in the conversations about every API. So each defect
strikes the client id of the conversations about its API alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from harness.codec.apis import api_named
from harness.codec.definition import snake_case
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsResponse
from harness.codec.structs import Message
from harness.oracle.restarted import CLIENT_ID as RESTARTS
from harness.oracle.subjects import REQUIREMENTS, client_id_of
from harness.proxies import SeenRequest
from labs.defects.defect import Defect
from labs.defects.edited_answer import EditedAnswers
from labs.defects.nested_structs import structs_at
from labs.defects.one_client import is_from

Change = Callable[[Any], Any]


class WrongField(NamedTuple):
    """``path``: of the field in the response of ``api``; ``since``: the first version with it."""

    api: str
    path: str
    change: Change
    since: int = 0


def _more(value: int) -> int:
    return value + 1


def _always(value: object) -> Change:
    return lambda _right: value


def _refused(value: int) -> int:
    return value or ErrorCode.UNKNOWN_SERVER_ERROR


def _accepted(_value: int) -> int:
    return ErrorCode.NONE


_FIELDS = (
    WrongField("Produce", "responses.partition_responses.base_offset", _more),
    WrongField("Fetch", "responses.partitions.high_watermark", _more),
    WrongField("ListOffsets", "topics.partitions.offset", _more, since=1),
    WrongField("DeleteRecords", "topics.partitions.low_watermark", _more),
    WrongField("InitProducerId", "producer_epoch", _more),
    WrongField("OffsetForLeaderEpoch", "topics.partitions.end_offset", _more),
    WrongField("DescribeProducers", "topics.partitions.error_code", _accepted),
    WrongField("JoinGroup", "generation_id", _more),
    WrongField("SyncGroup", "assignment", _always(b"\x07")),
    WrongField("Heartbeat", "error_code", _accepted),
    WrongField("LeaveGroup", "error_code", _refused),
    WrongField("DescribeGroups", "groups.group_state", _always("Stable")),
    WrongField("ListGroups", "groups", _always([])),
    WrongField("OffsetCommit", "topics.partitions.error_code", _accepted),
    WrongField("OffsetFetch", "error_code", _refused, since=2),
    WrongField("OffsetDelete", "error_code", _accepted),
    WrongField("DeleteGroups", "results.error_code", _accepted),
    WrongField("FindCoordinator", "coordinators.error_code", _accepted, since=4),
    WrongField("CreateTopics", "topics.error_code", _refused),
    WrongField("DeleteTopics", "responses.error_code", _accepted),
    WrongField("CreatePartitions", "results.error_code", _accepted),
    WrongField("Metadata", "topics.is_internal", _always(True), since=1),
    WrongField("DescribeTopicPartitions", "topics.is_internal", _always(True)),
    WrongField("DescribeConfigs", "results.configs.is_sensitive", _always(True)),
    WrongField("AlterConfigs", "responses.error_code", _accepted),
    WrongField("IncrementalAlterConfigs", "responses.error_code", _accepted),
    WrongField("ListConfigResources", "error_code", _refused),
    WrongField("AlterPartitionReassignments", "responses.partitions.error_code", _accepted),
    WrongField("ListPartitionReassignments", "error_code", _refused),
    WrongField("ElectLeaders", "replica_election_results.partition_result.error_code", _accepted),
    WrongField("DescribeLogDirs", "results.topics.partitions.is_future_key", _always(True)),
    WrongField("AlterReplicaLogDirs", "results.partitions.error_code", _accepted),
    WrongField("ApiVersions", "error_code", _accepted, since=3),
    WrongField("SaslHandshake", "mechanisms", _always(["PLAIN"])),
    WrongField("DescribeCluster", "controller_id", _more),
    WrongField("DescribeClientQuotas", "error_code", _refused),
    WrongField("AlterClientQuotas", "entries.error_code", _refused),
    WrongField(
        "AddPartitionsToTxn",
        "results_by_topic_v3_and_below.results_by_partition.partition_error_code",
        _accepted,
    ),
    WrongField("AddOffsetsToTxn", "error_code", _accepted),
    WrongField("TxnOffsetCommit", "topics.partitions.error_code", _accepted),
    WrongField("EndTxn", "error_code", _accepted),
    WrongField("WriteTxnMarkers", "markers.topics.partitions.error_code", _accepted),
    WrongField("DescribeTransactions", "transaction_states.producer_epoch", _more),
    WrongField("ListTransactions", "transaction_states", _always([])),
)


def _defect_of(wrong: WrongField) -> Defect:
    *place, name = wrong.path.split(".")

    def edit(seen: SeenRequest, message: Message) -> None:
        if is_from(seen, client_id_of(wrong.api)) and seen.version >= wrong.since:
            for struct in structs_at(message, *place):
                setattr(struct, name, wrong.change(getattr(struct, name)))

    return Defect(
        f"{snake_case(wrong.api)}_differs_from_specification",
        REQUIREMENTS[wrong.api],
        rf"{wrong.api} v\d+, step \d+: ",
        partial(EditedAnswers, api_named(wrong.api).response, edit, None),
        f"{wrong.api} responses have a wrong {name}.",
    )


def _first_epoch(seen: SeenRequest, message: Message) -> None:
    """A leader has epoch 0 until its broker is restarted."""
    if is_from(seen, RESTARTS) and isinstance(message, ListOffsetsResponse):
        for partition in structs_at(message, "topics", "partitions"):
            partition.leader_epoch = min(partition.leader_epoch, 0)


_AFTER_RESTART = Defect(
    "list_offsets_after_restart_differs_from_specification",
    "SPEC-038",
    r"ListOffsets v\d+, step \d+: .*leader_epoch",
    partial(EditedAnswers, ListOffsetsResponse, _first_epoch, None),
    "ListOffsets responses after a restart have the leader epoch of before.",
    private=True,
)
DEFECTS = [*(_defect_of(one) for one in _FIELDS), _AFTER_RESTART]
