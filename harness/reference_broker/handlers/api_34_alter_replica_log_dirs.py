"""AlterReplicaLogDirs: API key 34, versions 1 to 2.

Behaviour
- A replica moves to another folder of `log.dirs` (KIP-113): a log to come is filled there while the
  present one is used, and takes its place when it has all; DescribeLogDirs tells both.
- A wish for the folder where the replica is takes back what was begun, or does nothing.
- Of a replica that is not there the wish is remembered until it is made; the error says
  UNKNOWN_TOPIC_OR_PARTITION (3), or REPLICA_NOT_AVAILABLE (9) where other brokers have one.
- What is no folder of logs is LOG_DIR_NOT_FOUND (57); one that has failed, a replica in such a one,
  and a new move while any has failed, are KAFKA_STORAGE_ERROR (56).
- Of a partition that is named twice the last wish counts.

Version notes
- v0   up to Kafka 3.9
- v2   compact fields (KIP-482)

- Where the log is in memory, a move is over at once.
"""

from harness.codec.messages import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.log_moving import wish

API_KEY = 34
_Topic = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
_Partition = AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult


def handle(request: AlterReplicaLogDirsRequest, context: RequestContext) -> Answer:
    """Begin to move, and tell what cannot be moved."""
    wanted = {
        (topic.name, index): entry.path
        for entry in request.dirs
        for topic in entry.topics
        for index in topic.partitions
    }
    results: dict[str, list[_Partition]] = {}
    for (name, index), path in wanted.items():
        error = wish(context.state, name, index, path, context.now())
        told = _Partition(partition_index=index, error_code=error)
        results.setdefault(name, []).append(told)
    return Answer(
        AlterReplicaLogDirsResponse(
            results=[_Topic(topic_name=name, partitions=told) for name, told in results.items()]
        )
    )
