"""OffsetFetch: API key 9, versions 1 to 10.

Behaviour
- A partition without a committed offset has offset -1 and no error, also if group or topic do not
  exist.
- Null instead of topics requests all offsets that the group committed.
- A partition that is named twice is answered twice, and a topic without partitions is answered;
  before Kafka 4.0 neither.
- Before the internal topic of the groups exists, this broker is no coordinator.

Version notes
- v0   reads what OffsetCommit 0 has put aside; what is not there is UNKNOWN_TOPIC_OR_PARTITION;
       UNSUPPORTED_VERSION without a ZooKeeper
- v2   an error for the group, which v1 has in each partition
- v5   leader epochs (KIP-320)
- v7   require_stable: UNSTABLE_OFFSET_COMMIT while a transaction is not decided (KIP-447)
- v8   several groups at once (KIP-709)
- v9   member id and epoch (KIP-848)
- v10  topic ids instead of names; an unknown one is UNKNOWN_TOPIC_ID

Not done
- No groups of the consumer protocol: member id and epoch are not looked at.
"""

from collections.abc import Sequence
from uuid import UUID

from harness.base.ids import PartitionIndex
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetFetchRequest, OffsetFetchResponse
from harness.reference_broker.handlers.group_coordinator import (
    EACH_IS_ANSWERED,
    problem_with_coordinator,
)
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import DESCRIBE, GROUP, TOPIC, may
from harness.reference_broker.state.groups.committed_offset import CommittedOffset

API_KEY = 9
_FIRST_VERSION_WITH_GROUP_ERROR = 2
_FIRST_VERSION_WITH_GROUPS = 8
_FIRST_VERSION_BY_ID = 10
_NO_OFFSET = -1
_ASIDE = 0
_PARTITIONS_ARE_LOOKED_FOR = (2, 0)  # KAFKA-6796; before, only topics (class KafkaApis)
_Group = OffsetFetchResponse.OffsetFetchResponseGroup
_Topic = OffsetFetchResponse.OffsetFetchResponseTopics
_Result = OffsetFetchResponse.OffsetFetchResponsePartitions
_Named = tuple[str, UUID]
_Asked = tuple[_Named, Sequence[int]]


def handle(request: OffsetFetchRequest, context: RequestContext) -> Answer:
    """Answer for each group."""
    if context.api_version >= _FIRST_VERSION_WITH_GROUPS:
        groups = [_answered_group(group, context) for group in request.groups]
        for group in groups if request.require_stable else ():
            _refuse_unstable(group, context)
        return Answer(OffsetFetchResponse(groups=groups))
    asked = None
    if request.topics is not None:
        asked = [((topic.name, ZERO_UUID), topic.partition_indexes) for topic in request.topics]
    if context.api_version == _ASIDE:
        return Answer(_of_one_group(_put_aside(request.group_id, asked or (), context)))
    only = _answered(request.group_id, asked, context)
    if request.require_stable:
        _refuse_unstable(only, context)
    return Answer(_of_one_group(only))


def _refuse_unstable(group: _Group, context: RequestContext) -> None:
    """Replace the offsets of partitions with an offset in a transaction that is not decided."""
    pending = context.state.committed_offsets.pending
    for topic in group.topics:
        for at, result in enumerate(topic.partitions):
            place = (topic.name, PartitionIndex(result.partition_index))
            is_shown = result.error_code == ErrorCode.NONE
            if is_shown and pending.is_pending(group.group_id, place):
                error = ErrorCode.UNSTABLE_OFFSET_COMMIT
                topic.partitions[at] = _partition(result.partition_index, None, error)


def _put_aside(group_id: str, asked: Sequence[_Asked], context: RequestContext) -> _Group:
    asked = asked if context.state.like.since(*EACH_IS_ANSWERED) else _each_once(asked)
    if not may(context, DESCRIBE, GROUP, group_id):
        return _refused(group_id, asked, ErrorCode.GROUP_AUTHORIZATION_FAILED, context)
    if not context.state.like.has_zookeeper:
        return _refused(group_id, asked, ErrorCode.UNSUPPORTED_VERSION, context)
    held = context.state.committed_offsets.put_aside(group_id)
    cluster = context.state.cluster
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    looks_for_partition = context.state.like.since(*_PARTITIONS_ARE_LOOKED_FOR)

    def partition(name: str, index: int) -> _Result:
        if not may(context, DESCRIBE, TOPIC, name):
            return _partition(index, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = cluster.named(name)
        offset = held.get((name, PartitionIndex(index)))
        is_there = topic is not None and not (
            looks_for_partition and topic.partition(index) is None
        )
        if not is_there or offset is None:
            return _partition(index, None, unknown)
        return _Result(partition_index=index, committed_offset=offset, metadata="")

    return _Group(
        topics=[
            _Topic(name=name, partitions=[partition(name, index) for index in indexes])
            for (name, _), indexes in asked
        ]
    )


def _answered_group(
    group: OffsetFetchRequest.OffsetFetchRequestGroup, context: RequestContext
) -> _Group:
    if group.topics is None:
        return _answered(group.group_id, None, context)
    names: list[_Named] = [(topic.name, topic.topic_id) for topic in group.topics]
    if context.api_version >= _FIRST_VERSION_BY_ID:
        found = [context.state.cluster.with_id(topic.topic_id) for topic in group.topics]
        names = [
            ("" if topic is None else topic.name, wanted.topic_id)
            for topic, wanted in zip(found, group.topics, strict=True)
        ]
    indexes = [topic.partition_indexes for topic in group.topics]
    return _answered(group.group_id, list(zip(names, indexes, strict=True)), context)


def _answered(group_id: str, asked: Sequence[_Asked] | None, context: RequestContext) -> _Group:
    if asked is not None and not context.state.like.since(*EACH_IS_ANSWERED):
        asked = _each_once(asked)
    error = problem_with_coordinator(group_id, context)
    if not may(context, DESCRIBE, GROUP, group_id):
        error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if error is not ErrorCode.NONE:
        return _refused(group_id, asked or (), error, context)
    if asked is None:
        asked = _all_committed(group_id, context)
    return _Group(group_id=group_id, topics=[_of_topic(group_id, *each, context) for each in asked])


def _each_once(asked: Sequence[_Asked]) -> Sequence[_Asked]:
    """Return each partition once, by topic, as the former coordinator answers."""
    return once_by_topic(asked, lambda index: index)


def _all_committed(group_id: str, context: RequestContext) -> list[_Asked]:
    """Return the committed partitions by topic; a deleted topic has no id and is left out."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in context.state.committed_offsets.of_group(group_id):
        by_topic.setdefault(topic, []).append(index)
    known = {name: context.state.cluster.named(name) for name in by_topic}
    return [
        ((name, topic.topic_id), by_topic[name])
        for name, topic in known.items()
        if topic is not None and may(context, DESCRIBE, TOPIC, name)
    ]


def _of_topic(
    group_id: str, named: _Named, indexes: Sequence[int], context: RequestContext
) -> _Topic:
    name, topic_id = named
    by_id = context.api_version >= _FIRST_VERSION_BY_ID
    error = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not name else ErrorCode.NONE
    held = context.state.committed_offsets.of_group(group_id)
    if name and not may(context, DESCRIBE, TOPIC, name):
        error, held = ErrorCode.TOPIC_AUTHORIZATION_FAILED, {}
    partitions = [
        _partition(index, held.get((name, PartitionIndex(index))), error) for index in indexes
    ]
    return _Topic(name=name, topic_id=topic_id, partitions=partitions)


def _partition(index: int, held: CommittedOffset | None, error: ErrorCode) -> _Result:
    if held is None:
        return _Result(
            partition_index=index, committed_offset=_NO_OFFSET, metadata="", error_code=error
        )
    return _Result(
        partition_index=index,
        committed_offset=held.offset,
        committed_leader_epoch=held.leader_epoch,
        metadata=held.metadata,
    )


def _refused(
    group_id: str, asked: Sequence[_Asked], error: ErrorCode, context: RequestContext
) -> _Group:
    if context.api_version >= _FIRST_VERSION_WITH_GROUP_ERROR:
        return _Group(group_id=group_id, error_code=error)
    return _Group(
        topics=[
            _Topic(name=name, partitions=[_partition(index, None, error) for index in indexes])
            for (name, _), indexes in asked
        ]
    )


def _of_one_group(group: _Group) -> OffsetFetchResponse:
    """Return the answer in the layout before version 8."""
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponse.OffsetFetchResponseTopic(
                name=topic.name, partitions=[_old_partition(each) for each in topic.partitions]
            )
            for topic in group.topics
        ],
    )


def _old_partition(result: _Result) -> OffsetFetchResponse.OffsetFetchResponsePartition:
    return OffsetFetchResponse.OffsetFetchResponsePartition(
        partition_index=result.partition_index,
        committed_offset=result.committed_offset,
        committed_leader_epoch=result.committed_leader_epoch,
        metadata=result.metadata,
        error_code=result.error_code,
    )
