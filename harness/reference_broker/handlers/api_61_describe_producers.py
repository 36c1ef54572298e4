"""DescribeProducers: API key 61, versions 0 to 0.

Behaviour
- Lists the remembered producers of each requested partition, each with its last batch.
- A partition that is named twice is answered twice.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeProducersRequest, DescribeProducersResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.topics.topic_names import topic_name_problem

API_KEY = 61
_NAMES_ARE_CHECKED = (3, 0)  # KAFKA-12434
_Result = DescribeProducersResponse.PartitionResponse


def handle(request: DescribeProducersRequest, context: RequestContext) -> Answer:
    """Return the active producers of each partition."""
    return Answer(
        DescribeProducersResponse(
            topics=[
                DescribeProducersResponse.TopicResponse(
                    name=topic.name,
                    partitions=[
                        _described(topic.name, index, context) for index in topic.partition_indexes
                    ],
                )
                for topic in request.topics
            ]
        )
    )


def _described(name: str, index: int, context: RequestContext) -> _Result:
    problem = topic_name_problem(name)
    if problem is not None and context.state.like.since(*_NAMES_ARE_CHECKED):
        return _Result(
            partition_index=index,
            error_code=ErrorCode.INVALID_TOPIC_EXCEPTION,
            error_message=problem,
        )
    topic = context.state.cluster.named(name)
    partition = None if topic is None else topic.partition(index)
    if partition is None:
        return _Result(partition_index=index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not partition.is_here:
        return _Result(partition_index=index, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if partition.log.is_offline:
        return _Result(partition_index=index, error_code=ErrorCode.KAFKA_STORAGE_ERROR)
    return _Result(
        partition_index=index,
        active_producers=[
            DescribeProducersResponse.ProducerState(
                producer_id=one.producer_id,
                producer_epoch=one.producer_epoch,
                last_sequence=one.last_sequence,
                last_timestamp=one.last_timestamp,
                coordinator_epoch=one.coordinator_epoch,
                current_txn_start_offset=one.transaction_start,
            )
            for one in partition.active_producers(context.now())
        ],
    )
