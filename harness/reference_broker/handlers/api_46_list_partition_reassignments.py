"""ListPartitionReassignments: API key 46, versions 0 to 0.

Behaviour
- Returns the partitions that are being reassigned; others are left out, and so are unknown ones.
  Without a list all topics are meant.
- The message is null; empty with a ZooKeeper.
"""

from harness.codec.messages import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 46
_Topic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
_Partition = ListPartitionReassignmentsResponse.OngoingPartitionReassignment


def handle(request: ListPartitionReassignmentsRequest, context: RequestContext) -> Answer:
    """Return the reassignments in progress."""
    cluster = context.state.cluster
    if request.topics is None:
        asked = [(topic, range(len(topic.partitions))) for topic in cluster.topics()]
        told = [_moving(topic, list(indexes)) for topic, indexes in asked]
    else:
        named = [(cluster.named(one.name), one.partition_indexes) for one in request.topics]
        told = [_moving(topic, indexes) for topic, indexes in named if topic is not None]
    return Answer(
        ListPartitionReassignmentsResponse(
            error_message="" if context.state.like.keeps_topics_in_zookeeper else None,
            topics=[topic for topic in told if topic.partitions],
        )
    )


def _moving(topic: TopicState, indexes: list[int]) -> _Topic:
    found = [topic.partition(index) for index in indexes]
    return _Topic(
        name=topic.name,
        partitions=[
            _Partition(
                partition_index=one.index,
                replicas=[*one.registration.replicas],
                adding_replicas=[*one.registration.adding],
                removing_replicas=[*one.registration.removing],
            )
            for one in found
            if one is not None and one.registration.is_reassigned
        ],
    )
