"""OffsetDelete: API key 47, versions 0 to 0.

Behaviour
- An error of the group refuses the whole request; topics and partitions have their own errors.
- An existing topic that is named without partitions is not answered; before Kafka 3.5 neither is an
  unknown topic without partitions.
- A partition that is named twice is answered twice, but once before Kafka 4.0.
- Before Kafka 4.0 a group without members is deleted with its last offset.
- A partition without a committed offset is deleted without an error.
- Offsets of topics that a member subscribes to stay. With members that are no consumers, all
  offsets stay.
- Before the internal topic of the groups exists, this broker is no coordinator.
"""

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetDeleteRequest, OffsetDeleteResponse
from harness.reference_broker.handlers.group_coordinator import (
    EACH_IS_ANSWERED,
    MISSING_TOPICS_ARE_ANSWERED,
    problem_with_group,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.topic_results import first_of_each, merged
from harness.reference_broker.state.groups.group_offsets import is_subscribed, problem_with_deletion
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 47
_Partition = OffsetDeleteRequest.OffsetDeleteRequestPartition
_TopicResult = OffsetDeleteResponse.OffsetDeleteResponseTopic
_Result = OffsetDeleteResponse.OffsetDeleteResponsePartition


def handle(request: OffsetDeleteRequest, context: RequestContext) -> Answer:
    """Remove the committed offsets that may be removed."""
    problem = _problem_with(request.group_id, context)
    if problem is not ErrorCode.NONE:
        return Answer(OffsetDeleteResponse(error_code=problem))
    refused: dict[str, _TopicResult] = {}
    done: list[_TopicResult] = []
    like = context.state.like
    for wanted in request.topics:
        if not wanted.partitions and not like.since(*MISSING_TOPICS_ARE_ANSWERED):
            continue
        topic = context.state.cluster.named(wanted.name)
        here = [part for part in wanted.partitions if _is_in(topic, part)]
        missing = [part for part in wanted.partitions if not _is_in(topic, part)]
        if topic is None or missing:
            result = refused.setdefault(wanted.name, _TopicResult(name=wanted.name))
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if not like.since(*MISSING_TOPICS_ARE_ANSWERED):
                missing = first_of_each(missing, result.partitions)
            result.partitions += [_result(part, error) for part in missing]
        if here and like.since(*EACH_IS_ANSWERED):
            codes = [_delete(request.group_id, wanted.name, part, context) for part in here]
            results = [_result(part, code) for part, code in zip(here, codes, strict=True)]
            done.append(_TopicResult(name=wanted.name, partitions=results))
        elif here:
            _delete_once(request.group_id, wanted.name, here, done, context)
    group = context.state.groups.find(request.group_id)
    found = [part.error_code for topic in done for part in topic.partitions]
    if group is not None and ErrorCode.NONE in found:
        context.state.forget_at_once(group, context.now())
    return Answer(OffsetDeleteResponse(topics=merged(refused, done, lambda topic: topic.name)))


def _delete_once(
    group_id: str,
    name: str,
    here: list[_Partition],
    done: list[_TopicResult],
    context: RequestContext,
) -> None:
    """Delete each partition once, and add the results to the topic's former ones."""
    result = next((known for known in done if known.name == name), None)
    if result is None:
        result = _TopicResult(name=name)
        done.append(result)
    for part in first_of_each(here, result.partitions):
        result.partitions.append(_result(part, _delete(group_id, name, part, context)))


def _is_in(topic: TopicState | None, part: _Partition) -> bool:
    return topic is not None and topic.partition(part.partition_index) is not None


def _result(part: _Partition, error: ErrorCode) -> _Result:
    return _Result(partition_index=part.partition_index, error_code=error)


def _delete(group_id: str, name: str, part: _Partition, context: RequestContext) -> ErrorCode:
    group = context.state.groups.find(group_id)
    if group is not None and is_subscribed(group, name):
        return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    place = (name, PartitionIndex(part.partition_index))
    context.state.committed_offsets.remove(group_id, place, context.now())
    return ErrorCode.NONE


def _problem_with(group_id: str, context: RequestContext) -> ErrorCode:
    error = problem_with_group(group_id, context)
    if error is not ErrorCode.NONE:
        return error
    group = context.state.groups.find(group_id)
    return ErrorCode.GROUP_ID_NOT_FOUND if group is None else problem_with_deletion(group)
