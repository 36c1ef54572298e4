"""OffsetForLeaderEpoch: API key 23, versions 0 to 4.

Behaviour
- Where a leader epoch ends: the present one at the log's end, one to come nowhere (-1/-1).
- Only the leader answers.
- What is asked twice is answered twice.

Version notes
- v1   the answer tells the epoch (KIP-279)
- v2   the client says which leader epoch it believes to be the present one (KIP-320)
- v3   replica_id, which is not looked at: consumers and followers get the same
- v4   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 23
_Result = OffsetForLeaderEpochResponse.EpochEndOffset


def handle(request: OffsetForLeaderEpochRequest, context: RequestContext) -> Answer:
    """Tell the end of each epoch that is asked for."""
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
