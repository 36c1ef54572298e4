"""DescribeLogDirs: API key 35, versions 1 to 5.

Behaviour
- Each folder of `log.dirs` is listed, with those of the requested partitions that it holds.
- A topic or partition that does not exist is left out; one that is named twice is listed once.
- From Kafka 2.6 to 3.7.0 every topic in the folder is listed, without partitions if none is
  requested.
- A future log is listed beside the current one, with its offset lag (KIP-113).

Version notes
- v2   compact fields (KIP-482)
- v3   an error for the whole request
- v4   the size of the folder's volume, and its free space (KIP-827)
- v5   a flag for folders that take no new partitions (KIP-1066)

- For logs in memory, the first folder stands for the memory, which is also the volume.
- A folder that has failed is listed with an error, without its partitions (KIP-112).
"""

from functools import partial

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeLogDirsRequest, DescribeLogDirsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.log.log_store import DescribedDirectory, DescribedLog
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.replica_moves.folders_in_memory import folder_of, folders
from harness.reference_broker.state.replica_moves.log_moving import lag_of
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 35
_GROUPED_BY_TOPIC = (2, 6)  # class ReplicaManager (describeLogDirs)
_EMPTY_ARE_LEFT_OUT = (3, 7, 1)  # KAFKA-16807
_Topic = DescribeLogDirsResponse.DescribeLogDirsTopic
_Partition = DescribeLogDirsResponse.DescribeLogDirsPartition
_Result = DescribeLogDirsResponse.DescribeLogDirsResult
_Wanted = list[tuple[TopicState, list[int]]]


def handle(request: DescribeLogDirsRequest, context: RequestContext) -> Answer:
    """Return the partitions in each folder, with their sizes."""
    storage = context.state.cluster.host.storage
    wanted = _wanted(request, context)
    if storage is None:
        return Answer(DescribeLogDirsResponse(results=_in_memory(wanted, context.state)))
    directories = storage.directories()
    results = [_on_disk(each, wanted, lists_all=_lists_all(context.state)) for each in directories]
    return Answer(DescribeLogDirsResponse(results=results))


def _in_memory(wanted: _Wanted, state: BrokerState) -> list[_Result]:
    total = state.limits.memory_bytes
    usable = max(total - state.cluster.size_bytes(), 0)
    found = []
    for folder in folders(state):
        result = _Result(log_dir=folder, total_bytes=total, usable_bytes=usable)
        for topic, indexes in wanted:
            place = partial(folder_of, state, topic.name)
            here = [index for index in indexes if place(index) == folder]
            is_held = any(place(index) == folder for index in _here(topic))
            logs = [
                _Partition(
                    partition_index=index, partition_size=topic.partitions[index].log.size_bytes
                )
                for index in here
            ]
            if logs or (is_held and _lists_all(state)):
                result.topics.append(_Topic(name=topic.name, partitions=logs))
        found.append(result)
    return found


def _on_disk(directory: DescribedDirectory, wanted: _Wanted, *, lists_all: bool) -> _Result:
    result = _Result(
        log_dir=directory.path,
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
    )
    if not directory.is_online:
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        return result
    held = {name for name, _ in directory.logs}
    for topic, indexes in wanted:
        found = ((index, directory.logs.get((topic.name, index))) for index in indexes)
        logs = [_described(topic.partitions[at], log) for at, log in found if log is not None]
        if logs or (lists_all and topic.name in held):
            result.topics.append(_Topic(name=topic.name, partitions=logs))
    return result


def _described(partition: Partition, log: DescribedLog) -> _Partition:
    return _Partition(
        partition_index=partition.index,
        partition_size=log.size_bytes,
        offset_lag=lag_of(partition, log.end_offset, is_future=log.is_future),
        is_future_key=log.is_future,
    )


def _wanted(request: DescribeLogDirsRequest, context: RequestContext) -> _Wanted:
    """Return the requested partitions that exist here, in some releases of every topic."""
    cluster = context.state.cluster
    if request.topics is None:
        return [(topic, _here(topic)) for topic in cluster.topics()]
    indexes: dict[str, set[int]] = {}
    for asked in request.topics:
        indexes.setdefault(asked.topic, set()).update(asked.partitions)
    if _lists_all(context.state):
        indexes = {topic.name: indexes.get(topic.name, set()) for topic in cluster.topics()}
    topics = [(cluster.named(name), wanted) for name, wanted in indexes.items()]
    return [
        (topic, sorted(wanted.intersection(_here(topic))))
        for topic, wanted in topics
        if topic is not None
    ]


def _lists_all(state: BrokerState) -> bool:
    """True if each topic of a folder is listed, also without requested partitions."""
    return state.like.since(*_GROUPED_BY_TOPIC) and not state.like.since(*_EMPTY_ARE_LEFT_OUT)


def _here(topic: TopicState) -> list[int]:
    """Return the partitions of which the broker has a replica."""
    return [partition.index for partition in topic.partitions if partition.is_here]
