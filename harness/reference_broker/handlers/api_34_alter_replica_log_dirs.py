"""AlterReplicaLogDirs: API key 34, versions 1 to 2.

Behaviour
- A replica moves to another folder of `log.dirs` (KIP-113): a future log is filled there while the
  current one is used, and replaces it when it has all records; DescribeLogDirs lists both.
- A request for the folder where the replica is cancels a move that has begun, or does nothing.
- A request for a replica that is not here is remembered until the replica is made; the error is
  UNKNOWN_TOPIC_OR_PARTITION (3), or REPLICA_NOT_AVAILABLE (9) if other brokers have one.
- A path that is no log directory is LOG_DIR_NOT_FOUND (57). A failed directory, a replica in one,
  and a new move while any has failed, are KAFKA_STORAGE_ERROR (56).
- For a partition that is named twice the last entry counts.

Version notes
- v0   up to Kafka 3.9
- v2   compact fields (KIP-482)

- A log in memory moves at once.
"""

from harness.codec.messages import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.replica_moves.log_moving import wish

API_KEY = 34
_Topic = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
_Partition = AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult


def handle(request: AlterReplicaLogDirsRequest, context: RequestContext) -> Answer:
    """Begin the moves, and return an error for each replica that cannot be moved."""
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
