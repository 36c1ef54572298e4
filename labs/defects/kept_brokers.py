"""Defects of brokers that tests restart, or from which they read files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    DescribeConfigsResponse,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    OffsetFetchResponse,
    ProduceRequest,
)
from harness.codec.records import RecordBatch, decode_batches, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.prod import change_stored

KEPT_MS, DEFAULT_MS = "7654321", "604800000"
MAGIC_AT, CODEC = 16, 0x07


@answers("STOR-010", r"bytes are fetched, \d+ are stored, byte \d+ differs")
def what_is_fetched_is_made_anew(answer: FetchResponse) -> None:
    """The broker sends compressed batches as if they were not compressed."""

    def change(batch: RecordBatch) -> RecordBatch:
        of_test = any((record.value or b"").startswith(b"on disk") for record in batch.records)
        if not (of_test and batch.attributes & CODEC):
            return batch
        return replace(batch, attributes=batch.attributes & ~CODEC)

    change_stored(answer, change)


@takes("STOR-011", r"read by 0 groups, \d+ bytes are stored of \d+")
def each_message_is_stored_twice(request: ProduceRequest) -> None:
    """The broker stores each message twice."""
    for topic in request.topic_data:
        for part in topic.partition_data:
            data = bytes(part.records or b"")
            if len(data) > MAGIC_AT and data[MAGIC_AT] == 2 and b"onceonce" in data:
                (batch,) = decode_batches(data)
                part.records = encode_batch(_doubled(batch))


def _doubled(batch: RecordBatch) -> RecordBatch:
    records = [replace(one, offset_delta=None) for one in [*batch.records, *batch.records]]
    unset = {"crc": None, "batch_length": None, "record_count": None, "last_offset_delta": None}
    return replace(batch, records=records, **unset)  # type: ignore[arg-type]


class TopicsForgetTheirSettings(FrameRule):
    """A broker that is started again has its topics with default settings."""

    def __init__(self) -> None:
        self.asked = 0

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "DescribeConfigs" or seen.message is None:
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, DescribeConfigsResponse)
        of_test = [one for result in message.results for one in result.configs
                   if one.value == KEPT_MS]  # fmt: skip
        self.asked += bool(of_test)
        for one in of_test if self.asked > 1 else ():
            one.value = DEFAULT_MS
        return [encode_response(message, seen.version, correlation_id)]


@answers("OFFS-019", r"committed at version \d+: leader epochs are \[-1, -1, -1\]")
def the_epoch_of_a_commit_is_not_kept(answer: OffsetFetchResponse) -> None:
    """The broker keeps only offset and metadata of a commit."""
    for topic in answer.topics:
        for each in topic.partitions:
            each.committed_leader_epoch = -1
    for group in answer.groups:
        for told in group.topics:
            for one in told.partitions:
                one.committed_leader_epoch = -1


class IdsBeginAgain(FrameRule):
    """The first producer after a restart gets the id of the first one before it."""

    def __init__(self) -> None:
        self.first_id, self.first_connection, self.has_topic = -1, -1, False

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        self.has_topic |= isinstance(seen.message, CreateTopicsRequest)
        if isinstance(seen.message, InitProducerIdRequest) and not self.has_topic:
            return [edited(seen, payload, self.edit)]
        return [payload]

    def edit(self, seen: SeenRequest, answer: InitProducerIdResponse) -> None:
        if answer.error_code != ErrorCode.NONE:
            return
        if self.first_connection < 0:
            self.first_id, self.first_connection = answer.producer_id, seen.place.connection
        elif seen.place.connection > self.first_connection:
            answer.producer_id = self.first_id


DEFECTS = [
    replace(made, private=True)
    for made in (
        what_is_fetched_is_made_anew,
        each_message_is_stored_twice,
        changed_field("OTOP-004", "old_offsets_go_with_compaction",
            r"after an end in order, partition 0: \(offset, metadata\) is \(-1",
            "OffsetFetch returns no offset for a commit that is older than the compacted part.",
            OffsetFetchResponse, "groups.topics.partitions.committed_offset",
            ANY, -1, where={"groups.topics.partitions.metadata": "early"}, also={"metadata": ""}),
        rule("CONF-015", r"after an end in order: .*604800000", TopicsForgetTheirSettings),
        the_epoch_of_a_commit_is_not_kept,
        rule("IDEM-002", r"after an end in order the id \d+ again", IdsBeginAgain),
    )
]  # fmt: skip
