"""The results of topics and partitions that a client may not use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext

_NONE = -1


@dataclass(frozen=True, slots=True)
class TopicForm:
    """The shape of a refused topic: its response, and the fields of its partitions.

    `asked` is the array of the request, with the partition in `asked_index`, empty if they are
    plain numbers. `named` are the fields of the topic in both. `beside`: what stands beside an
    error.
    """

    topic: type[Any]
    partition: type[Any]
    asked: str = "partitions"
    asked_index: str = "partition_index"
    placed: str = "partitions"
    index: str = "partition_index"
    error: str = "error_code"
    named: tuple[str, ...] = ("name",)
    beside: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, topic: Any, error: ErrorCode, _: RequestContext) -> Any:
        """Return the result of a topic with the error in each partition."""
        made = [
            self.partition(
                **{
                    self.index: getattr(each, self.asked_index) if self.asked_index else each,
                    self.error: error,
                    **self.beside,
                }
            )
            for each in getattr(topic, self.asked)
        ]
        names = {name: getattr(topic, name) for name in self.named}
        return self.topic(**names, **{self.placed: made})

    def of_all(self, response: type[Any], results: str, asked: str) -> Any:
        """Return the refusal of a whole request: the error in each partition of each topic."""

        def refuse(request: Any, error: ErrorCode, context: RequestContext) -> Any:
            topics = [self(topic, error, context) for topic in getattr(request, asked)]
            return response(**{results: topics})

        return refuse


_BOTH = ("name", "topic_id")
PRODUCED = TopicForm(
    messages.ProduceResponse.TopicProduceResponse,
    messages.ProduceResponse.PartitionProduceResponse,
    asked="partition_data",
    asked_index="index",
    placed="partition_responses",
    index="index",
    named=_BOTH,
    beside={"base_offset": _NONE, "log_append_time_ms": _NONE, "log_start_offset": _NONE},
)
LISTED_OFFSETS = TopicForm(
    messages.ListOffsetsResponse.ListOffsetsTopicResponse,
    messages.ListOffsetsResponse.ListOffsetsPartitionResponse,
    beside={"timestamp": _NONE, "offset": _NONE},
)
COMMITTED = TopicForm(
    messages.OffsetCommitResponse.OffsetCommitResponseTopic,
    messages.OffsetCommitResponse.OffsetCommitResponsePartition,
    named=_BOTH,
)
COMMITTED_IN_TRANSACTION = TopicForm(
    messages.TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic,
    messages.TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition,
    named=_BOTH,
)
DELETED_OFFSETS = TopicForm(
    messages.OffsetDeleteResponse.OffsetDeleteResponseTopic,
    messages.OffsetDeleteResponse.OffsetDeleteResponsePartition,
)
DELETED_RECORDS = TopicForm(
    messages.DeleteRecordsResponse.DeleteRecordsTopicResult,
    messages.DeleteRecordsResponse.DeleteRecordsPartitionResult,
    beside={"low_watermark": _NONE},
)
EPOCHS = TopicForm(
    messages.OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult,
    messages.OffsetForLeaderEpochResponse.EpochEndOffset,
    asked_index="partition",
    index="partition",
    named=("topic",),
    beside={"leader_epoch": _NONE, "end_offset": _NONE},
)
ADDED = TopicForm(
    messages.AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult,
    messages.AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult,
    asked_index="",
    placed="results_by_partition",
    error="partition_error_code",
)
PRODUCERS = TopicForm(
    messages.DescribeProducersResponse.TopicResponse,
    messages.DescribeProducersResponse.PartitionResponse,
    asked="partition_indexes",
    asked_index="",
)
