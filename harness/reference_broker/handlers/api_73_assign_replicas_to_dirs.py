"""AssignReplicasToDirs: API key 73, versions 0 to 0; only on the controller's listener.

Behaviour
- A broker reports the directories of its replicas (KIP-858); each replica has its own result.
- A replica in an offline directory no longer leads and is no longer in sync.
- The whole request is refused for an older broker epoch (STALE_BROKER_EPOCH).
"""

from uuid import UUID

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.circumstances import changed
from harness.reference_broker.state.controller.fencing import directory_lost
from harness.reference_broker.state.controller.partition_change import TargetReplicas
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import check_broker_epoch

API_KEY = 73
_Response = AssignReplicasToDirsResponse


def handle(request: AssignReplicasToDirsRequest, context: RequestContext) -> Answer:
    """Record the directory of each replica."""
    try:
        broker = check_broker_epoch(context.state, request.broker_id, request.broker_epoch)
    except ControllerRefused as refused:
        return Answer(_Response(error_code=refused.error))
    return Answer(
        _Response(
            directories=[
                _Response.DirectoryData(
                    id=directory.id,
                    topics=[
                        _topic(topic, (broker.broker_id, directory.id), context)
                        for topic in directory.topics
                    ],
                )
                for directory in request.directories
            ]
        )
    )


def _topic(
    asked: AssignReplicasToDirsRequest.TopicData,
    place: tuple[BrokerId, UUID],
    context: RequestContext,
) -> AssignReplicasToDirsResponse.TopicData:
    return _Response.TopicData(
        topic_id=asked.topic_id,
        partitions=[
            _Response.PartitionData(
                partition_index=one.partition_index,
                error_code=_assigned(asked.topic_id, one.partition_index, place, context),
            )
            for one in asked.partitions
        ],
    )


def _assigned(
    topic_id: UUID, index: int, place: tuple[BrokerId, UUID], context: RequestContext
) -> ErrorCode:
    topic = context.state.cluster.with_id(topic_id)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    partition = topic.partition(index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if place[0] not in partition.registration.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    state = context.state
    change = changed(state, topic, partition, TargetReplicas(directory=place))
    if change is not None:
        state.change_metadata([change], context.now())
    if not state.brokers.has_online(*place):
        lost = directory_lost(state, topic, partition, place[0])
        if lost is not None:
            state.change_metadata([lost], context.now())
    return ErrorCode.NONE
