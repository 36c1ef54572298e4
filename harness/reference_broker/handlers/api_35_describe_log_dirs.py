"""DescribeLogDirs: API key 35, versions 1 to 5.

Behaviour
- Each folder of `log.dirs` is told, with those of the partitions asked for that it holds.
- A topic or partition that does not exist is left out; what is asked twice is told once.

Version notes
- v2   compact fields (KIP-482)
- v3   an error for the whole request
- v4   how large the folder's volume is, and what of it is free (KIP-827)
- v5   whether the folder takes new partitions (KIP-1066)

Not done
- The log is in memory: the first folder stands for it, and the volume is the machine's memory.
"""

from collections.abc import Iterable

from harness.codec.messages import DescribeLogDirsRequest, DescribeLogDirsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.topic import Topic

API_KEY = 35
_Topic = DescribeLogDirsResponse.DescribeLogDirsTopic
_Partition = DescribeLogDirsResponse.DescribeLogDirsPartition
_Result = DescribeLogDirsResponse.DescribeLogDirsResult


def handle(request: DescribeLogDirsRequest, context: RequestContext) -> Answer:
    """Tell which partitions are where, and how large."""
    configs = context.state.configs
    folders = (configs.value("log.dirs") or configs.value("log.dir") or "").split(",")
    first, *others = [folder.strip() for folder in folders]
    total = context.state.limits.memory_bytes
    usable = max(total - context.state.cluster.size_bytes(), 0)
    results = [
        _Result(log_dir=name, total_bytes=total, usable_bytes=usable) for name in (first, *others)
    ]
    results[0].topics = [
        _described(topic, wanted) for topic, wanted in _wanted(request, context) if wanted
    ]
    return Answer(DescribeLogDirsResponse(results=results))


def _wanted(
    request: DescribeLogDirsRequest, context: RequestContext
) -> Iterable[tuple[Topic, list[int]]]:
    """The partitions that there are of what is asked for."""
    cluster = context.state.cluster
    if request.topics is None:
        return [(topic, _here(topic)) for topic in cluster.topics()]
    indexes: dict[str, set[int]] = {}
    for asked in request.topics:
        indexes.setdefault(asked.topic, set()).update(asked.partitions)
    topics = [(cluster.named(name), wanted) for name, wanted in indexes.items()]
    return [
        (topic, sorted(wanted.intersection(_here(topic))))
        for topic, wanted in topics
        if topic is not None
    ]


def _described(topic: Topic, indexes: list[int]) -> _Topic:
    return _Topic(
        name=topic.name,
        partitions=[
            _Partition(
                partition_index=index, partition_size=topic.partitions[index].segments.size_bytes
            )
            for index in indexes
        ],
    )


def _here(topic: Topic) -> list[int]:
    """The partitions of which the broker has a replica."""
    return [partition.index for partition in topic.partitions if partition.is_here]
