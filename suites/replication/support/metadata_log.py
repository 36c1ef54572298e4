"""The controller's log as an observer reads it: a broker that fetches and has no vote (KIP-595)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.codec.data_framing.coordinator_records import UnknownRecord
from harness.codec.data_framing.metadata_records import CLUSTER_METADATA
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.records.any_format import read_records
from harness.codec.structs import Message
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.partition import FIRST_WITH_REPLICA_STATE
from suites.replication.support.expect import expect_error

TOPIC_ID = UUID(int=1)
LIMIT_BYTES = 1 << 24
NO_SESSION = -1
OTHER_EPOCH = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH)


@dataclass(frozen=True, slots=True)
class ObservedMetadata:
    """``records`` of the controller by offset; ``end`` is behind the last one that was given,
    also of those that controllers write for themselves."""

    high_watermark: int
    records: dict[int, Message]
    end: int


def observe(member: KraftMember) -> ObservedMetadata:
    """All of the log from its beginning, in the epoch that the controller names.

    Raises AssertionError: another error.
    """
    data = _fetch(member, 0)
    if data.error_code in OTHER_EPOCH:
        data = _fetch(member, data.current_leader.leader_epoch)
    expect_error(data.error_code, ErrorCode.NONE, "a fetch of the metadata log")
    batches = read_records(record_bytes(data), limit_bytes=LIMIT_BYTES).batches
    known: dict[int, Message] = {}
    for batch in batches:
        for offset, _, _, value in () if batch.is_control else batch.records.rows():
            read = CLUSTER_METADATA.read(value or b"")
            if not isinstance(read, UnknownRecord):
                known[offset] = read.message
    last = batches[-1] if batches else None
    end = last.base_offset + last.last_offset_delta + 1 if last else 0
    return ObservedMetadata(data.high_watermark, known, end)


def _fetch(member: KraftMember, leader_epoch: int) -> FetchResponse.PartitionData:
    partition = FetchRequest.FetchPartition(
        partition=0,
        current_leader_epoch=leader_epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        partition_max_bytes=LIMIT_BYTES,
    )
    topic = FetchRequest.FetchTopic(
        topic=CLUSTER_METADATA.topic, topic_id=TOPIC_ID, partitions=[partition]
    )
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=LIMIT_BYTES, topics=[topic], session_epoch=NO_SESSION
    )
    if member.controller.version("Fetch") < FIRST_WITH_REPLICA_STATE:
        request.replica_id = member.broker_id
    else:
        request.replica_state.replica_id = member.broker_id
    answer = member.controller.ask(request)
    expect_error(answer.error_code, ErrorCode.NONE, "the whole answer")
    return only(only(answer.responses, "topic").partitions, "partition")
