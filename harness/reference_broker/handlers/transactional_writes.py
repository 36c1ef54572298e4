"""The transactional batches of a Produce request, and the producers that they have."""

from collections.abc import Sequence

from harness.codec.messages import ProduceRequest
from harness.codec.records import BatchHeader
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.handlers.transaction_check import Writing
from harness.reference_broker.handlers.transaction_coordinator import identity_of
from harness.reference_broker.state.log.batch_bytes import is_transactional
from harness.reference_broker.state.partition.partition import Partition

_FIRST_VERSION_WITH_ABORTABLE = 11
_FIRST_VERSION_THAT_ADDS = 12
_ONE_PRODUCER = (3, 6)  # class ReplicaManager (handleProduceAppend)
_ONE_EPOCH = (3, 8)


def writing_of(
    batch: bytes, transactional_id: str | None, context: RequestContext
) -> Writing | None:
    """Return the write of a transactional batch; None for any other."""
    if transactional_id is None or not is_transactional(batch):
        return None
    header = BatchHeader.read(batch)
    if header.producer_id < 0:
        return None
    return Writing(
        transactional_id,
        identity_of(header.producer_id, header.producer_epoch),
        adds=context.api_version >= _FIRST_VERSION_THAT_ADDS,
        is_abortable=context.api_version >= _FIRST_VERSION_WITH_ABORTABLE,
    )


def has_transactional(request: ProduceRequest) -> bool:
    return any(
        data.records is not None and is_transactional(data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    )


def are_of_several_producers(
    writes: Sequence[tuple[Partition, Writing]], context: RequestContext
) -> bool:
    """True if the request is refused for that: since 3.6 its coordinator is asked for one producer,
    since 3.8 in one epoch (KIP-890)."""
    like = context.state.like
    if like.since(*_ONE_EPOCH):
        return len({one.producer for _, one in writes}) > 1
    return like.since(*_ONE_PRODUCER) and len({one.producer.producer_id for _, one in writes}) > 1
