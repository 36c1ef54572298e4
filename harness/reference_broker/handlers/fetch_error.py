"""Errors of a Fetch without a reading, and the records beside an error."""

from collections.abc import Sequence
from typing import cast

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.fetch.fetch_reading import PartitionReading

_FIRST_VERSION_WITHOUT_PARTITIONS = 13
_IS_GENERATED = (3, 0)  # apache/kafka#9758
_REPEATED_ARE_ANSWERED = (3, 1)  # class FetchRequest (getErrorResponse)
_NULL_UNTIL = (4, 0)  # KAFKA-18646
_OF_CONVERSION = (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.UNSUPPORTED_VERSION)


def unforeseen_fetch(request: FetchRequest, context: RequestContext) -> FetchResponse:
    """Return UNKNOWN_SERVER_ERROR with the session's id, up to v12 for each partition too."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    as_asked = context.state.like.since(*_REPEATED_ARE_ANSWERED)
    answer = FetchResponse(error_code=error, session_id=request.session_id)
    if context.api_version < _FIRST_VERSION_WITHOUT_PARTITIONS:
        answer.responses = [
            FetchResponse.FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    FetchResponse.PartitionData(
                        partition_index=part.partition, error_code=error, high_watermark=-1,
                        records=_no_records(context.state.like),
                        aborted_transactions=none_aborted(context.state.like),
                    )
                    for part in topic.partitions
                ],
            )
            for topic in (request.topics if as_asked else _each_once(request.topics))
        ]  # fmt: skip
    return answer


def _each_once(topics: Sequence[FetchRequest.FetchTopic]) -> list[FetchRequest.FetchTopic]:
    """Return the topics with each partition once, without topics that have none."""
    once = once_by_topic(
        ((topic.topic, topic.partitions) for topic in topics), lambda part: part.partition
    )
    return [FetchRequest.FetchTopic(topic=name, partitions=parts) for name, parts in once]


def records_sent(reading: PartitionReading, context: RequestContext) -> bytes | None:
    """Return the records of a reading; without any after an error of their conversion.

    Other errors have empty records in every release: the conversion replaced null by these (class
    KafkaApis, maybeConvertFetchedData).
    """
    if reading.error in _OF_CONVERSION:
        return _no_records(context.state.like)
    return cast("bytes", reading.records)


def none_aborted(
    like: EmulatedRelease,
) -> list[FetchResponse.AbortedTransaction] | None:
    """Return the list beside an error without a reading: empty since 3.0, null before.

    The generated response made it empty (apache/kafka#9758).
    """
    return [] if like.since(*_IS_GENERATED) else None


def _no_records(like: EmulatedRelease) -> bytes | None:
    """Return empty records, or null (class FetchResponse, partitionResponse)."""
    return None if like.since(*_IS_GENERATED) and not like.since(*_NULL_UNTIL) else b""
