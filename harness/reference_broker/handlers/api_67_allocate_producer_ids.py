"""AllocateProducerIds: API key 67, versions 0 to 0; only on the controller's listener.

Behaviour
- Each request gets a new block of ids (KIP-730); an older broker epoch is refused (77).
"""

from harness.codec.messages import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    ProducerIdsRecord,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import check_broker_epoch

API_KEY = 67
_BLOCK = 1000


def handle(request: AllocateProducerIdsRequest, context: RequestContext) -> Answer:
    """Return the next block of producer ids."""
    state = context.state
    try:
        check_broker_epoch(state, request.broker_id, request.broker_epoch)
    except ControllerRefused as refused:
        return Answer(AllocateProducerIdsResponse(error_code=refused.error))
    first = state.next_producer_id
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + _BLOCK,
    )
    state.change_metadata([record], context.now())
    return Answer(AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=_BLOCK))
