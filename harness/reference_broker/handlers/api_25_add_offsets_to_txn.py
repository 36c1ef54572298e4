"""AddOffsetsToTxn: API key 25, versions 0 to 4.

Behaviour
- Adds the partition of the group's offsets to the transaction, before TxnOffsetCommit.

Version notes
- v2   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
"""

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.transaction_coordinator import (
    answer_when_written,
    as_of_version,
    identity_of,
    problem_with_transactional_id,
)
from harness.reference_broker.state.groups.group_log import java_hash
from harness.reference_broker.state.topics.topic_names import GROUP_METADATA_TOPIC
from harness.reference_broker.state.transactions.adding import add

API_KEY = 25


def handle(request: AddOffsetsToTxnRequest, context: RequestContext) -> Outcome:
    """Add the partition of the group's offsets."""
    error = problem_with_transactional_id(request.transactional_id, context)
    if error is ErrorCode.NONE:
        producer = identity_of(request.producer_id, request.producer_epoch)
        place = (GROUP_METADATA_TOPIC, _partition_of(request.group_id, context))
        transactions, name = context.state.transactions, request.transactional_id
        error = add(transactions, name, producer, [place], 0, context.now())
    if error is not ErrorCode.NONE:
        return Answer(_refused(as_of_version(error, context)))
    answer = AddOffsetsToTxnResponse()
    return answer_when_written(request.transactional_id, answer, _refused, context)


def _partition_of(group_id: str, context: RequestContext) -> PartitionIndex:
    topic = context.state.cluster.named(GROUP_METADATA_TOPIC)
    settings = context.state.internal_topics[GROUP_METADATA_TOPIC]
    count = settings.partition_count if topic is None else len(topic.partitions)
    return PartitionIndex(java_hash(group_id) % count)


def _refused(error: ErrorCode) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=error)
