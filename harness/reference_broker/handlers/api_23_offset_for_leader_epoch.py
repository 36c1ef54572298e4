"""OffsetForLeaderEpoch: API key 23, versions 0 to 4.

Behaviour
- The end offset of a leader epoch: the log end for the current one, -1 with epoch -1 for a later
  one.
- Only the leader answers.
- A partition that is named twice is answered twice; before Kafka 2.8 once, with its last epoch.
- Before Kafka 2.1 an epoch begins with its first record, and one before the first is unknown.

Version notes
- v1   the answer has the epoch (KIP-279)
- v2   the client sends the leader epoch that it believes to be current (KIP-320)
- v3   replica_id, which is ignored: consumers and followers get the same answer
- v4   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.log.leader_epochs import EpochEnd
from harness.reference_broker.state.partition.partition import Partition

API_KEY = 23
_EACH_IS_ANSWERED = (2, 8)  # KAFKA-9630; before, a map (class OffsetsForLeaderEpochRequest)
_EPOCHS_BEGIN_EMPTY = (2, 1)  # KAFKA-7395 (class Partition, makeLeader)
_Asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
_Result = OffsetForLeaderEpochResponse.EpochEndOffset


def handle(request: OffsetForLeaderEpochRequest, context: RequestContext) -> Answer:
    """Return the end offset of each requested epoch."""
    asked_of = [(topic.topic, topic.partitions) for topic in request.topics]
    if not context.state.like.since(*_EACH_IS_ANSWERED):
        asked_of = once_by_topic(asked_of, lambda asked: asked.partition)
    return Answer(
        OffsetForLeaderEpochResponse(
            topics=[
                OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                    topic=name, partitions=[_end(name, asked, context) for asked in partitions]
                )
                for name, partitions in asked_of
            ]
        )
    )


def _end(
    name: str,
    asked: _Asked,
    context: RequestContext,
) -> _Result:
    topic = context.state.cluster.named(name)
    partition = None if topic is None else topic.partition(asked.partition)
    if partition is None:
        return _Result(partition=asked.partition, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    problem = partition.leader_problem(asked.current_leader_epoch)
    if problem is not ErrorCode.NONE:
        return _Result(partition=asked.partition, error_code=problem)
    end = _end_of(partition, asked.leader_epoch, context)
    if end is None:
        return _Result(partition=asked.partition)
    epoch, offset = end
    return _Result(partition=asked.partition, leader_epoch=epoch, end_offset=offset)


def _end_of(partition: Partition, epoch: int, context: RequestContext) -> EpochEnd | None:
    end, leading = partition.end_of_epoch(epoch), partition.leading
    if end is None or leading is None or context.state.like.since(*_EPOCHS_BEGIN_EMPTY):
        return end
    is_empty = epoch == leading.epoch and leading.epoch_start == partition.log.end_offset
    return None if is_empty or epoch < partition.epochs.entries[0].epoch else end
