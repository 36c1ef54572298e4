"""OffsetForLeaderEpoch: API key 23, versions 0 to 4.

Behaviour
- The end offset of a leader epoch: the log end for the current one, -1 with epoch -1 for a later
  one.
- Only the leader answers.
- A partition that is named twice is answered twice.

Version notes
- v1   the answer has the epoch (KIP-279)
- v2   the client sends the leader epoch that it believes to be current (KIP-320)
- v3   replica_id, which is ignored: consumers and followers get the same answer
- v4   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 23
_Result = OffsetForLeaderEpochResponse.EpochEndOffset


def handle(request: OffsetForLeaderEpochRequest, context: RequestContext) -> Answer:
    """Return the end offset of each requested epoch."""
    return Answer(
        OffsetForLeaderEpochResponse(
            topics=[
                OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                    topic=topic.topic,
                    partitions=[_end(topic.topic, asked, context) for asked in topic.partitions],
                )
                for topic in request.topics
            ]
        )
    )


def _end(
    name: str,
    asked: OffsetForLeaderEpochRequest.OffsetForLeaderPartition,
    context: RequestContext,
) -> _Result:
    topic = context.state.cluster.named(name)
    partition = None if topic is None else topic.partition(asked.partition)
    if partition is None:
        return _Result(partition=asked.partition, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    problem = partition.leader_problem(asked.current_leader_epoch)
    if problem is not ErrorCode.NONE:
        return _Result(partition=asked.partition, error_code=problem)
    end = partition.end_of_epoch(asked.leader_epoch)
    if end is None:
        return _Result(partition=asked.partition)
    epoch, offset = end
    return _Result(partition=asked.partition, leader_epoch=epoch, end_offset=offset)
