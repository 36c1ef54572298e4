"""AlterPartition: API key 56, versions 0 to 3; only on the controller's listener.

Behaviour
- A leader proposes an ISR; each partition has its own result, with the new registration if the
  proposal is accepted.
- The whole request is refused for an older broker epoch (STALE_BROKER_EPOCH).

Version notes
- v1   the leader recovery state (KIP-704)
- v2   topic ids; INELIGIBLE_REPLICA and NEW_LEADER_ELECTED, which were OPERATION_NOT_ATTEMPTED and
       FENCED_LEADER_EPOCH (KIP-841)
- v3   broker epochs of the members (KIP-903)
"""

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.isr_changes import (
    Proposal,
    isr_change,
    moves_leader,
    problem_with,
)
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import check_broker_epoch
from harness.reference_broker.state.partition.leading import ANY_EPOCH
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.partition_registration import (
    RECOVERED,
    RECOVERING,
)
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 56
_FIRST_VERSION_WITH_IDS = 2
_FIRST_VERSION_WITH_EPOCHS = 3
_OLDER_ERRORS = {
    ErrorCode.INELIGIBLE_REPLICA: ErrorCode.OPERATION_NOT_ATTEMPTED,
    ErrorCode.NEW_LEADER_ELECTED: ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_ID: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
_Response = AlterPartitionResponse
_Result = AlterPartitionResponse.PartitionData


def handle(request: AlterPartitionRequest, context: RequestContext) -> Answer:
    """Check each proposal, and write those that change something."""
    try:
        check_broker_epoch(context.state, request.broker_id, request.broker_epoch)
    except ControllerRefused as refused:
        return Answer(_Response(error_code=refused.error))
    return Answer(
        _Response(
            topics=[
                _Response.TopicData(
                    topic_name=topic.topic_name,
                    topic_id=topic.topic_id,
                    partitions=[
                        _partition(request.broker_id, topic, asked, context)
                        for asked in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )
    )


def _partition(
    sender: int,
    named: AlterPartitionRequest.TopicData,
    asked: AlterPartitionRequest.PartitionData,
    context: RequestContext,
) -> _Result:
    cluster, index = context.state.cluster, asked.partition_index
    by_id = context.api_version >= _FIRST_VERSION_WITH_IDS
    topic = cluster.with_id(named.topic_id) if by_id else cluster.named(named.topic_name)
    if topic is None:
        return _failed(index, ErrorCode.UNKNOWN_TOPIC_ID, context)
    partition = topic.partition(index)
    if partition is None:
        return _failed(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, context)
    proposal = _proposal(sender, asked, context.api_version)
    problem = problem_with(proposal, partition.registration, context.state.brokers)
    if problem is not ErrorCode.NONE:
        return _failed(index, problem, context)
    return _changed(topic, partition, proposal, context)


def _proposal(sender: int, asked: AlterPartitionRequest.PartitionData, version: int) -> Proposal:
    if version >= _FIRST_VERSION_WITH_EPOCHS:
        isr = tuple(
            (BrokerId(one.broker_id), one.broker_epoch) for one in asked.new_isr_with_epochs
        )
    else:
        isr = tuple((BrokerId(one), ANY_EPOCH) for one in asked.new_isr)
    return Proposal(
        BrokerId(sender),
        asked.leader_epoch,
        asked.partition_epoch,
        isr,
        asked.leader_recovery_state == RECOVERING,
    )


def _changed(
    topic: TopicState, partition: Partition, proposal: Proposal, context: RequestContext
) -> _Result:
    change = isr_change(context.state, topic, partition, proposal)
    if change is not None:
        context.state.change_metadata([change], context.now())
        if moves_leader(change, proposal.sender):
            return _failed(partition.index, ErrorCode.NEW_LEADER_ELECTED, context)
    registered = partition.registration
    return _Result(
        partition_index=partition.index,
        leader_id=registered.leader,
        leader_epoch=registered.leader_epoch,
        isr=[*registered.isr],
        leader_recovery_state=RECOVERING if registered.is_recovering else RECOVERED,
        partition_epoch=registered.partition_epoch,
    )


def _failed(index: int, error: ErrorCode, context: RequestContext) -> _Result:
    if context.api_version < _FIRST_VERSION_WITH_IDS:
        error = _OLDER_ERRORS.get(error, error)
    return _Result(partition_index=index, error_code=error)
