"""InitProducerId: API key 22, versions 0 to 5.

Behaviour
- Without a transactional id each request gets a new producer id with epoch 0.
- With a transactional id the same producer id is returned with the next epoch, which fences the
  former epoch.

Version notes
- v3   the producer may send its id and epoch (KIP-360)
- v4   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)

Not done
- Transactions themselves: there is never an ongoing one to abort.
- Transactional ids do not expire with time.
"""

from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import InitProducerIdRequest, InitProducerIdResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.topics.topic_names import TRANSACTION_STATE_TOPIC

API_KEY = 22
_NONE = -1
_FIRST_VERSION_WITH_FENCED = 4


def handle(request: InitProducerIdRequest, context: RequestContext) -> Answer:
    """Give out a producer id and epoch."""
    if context.state.producer_ids.is_empty:  # the next block is on its way
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    given = _identity(request, context)
    if isinstance(given, ProducerIdentity):
        return Answer(
            InitProducerIdResponse(
                producer_id=given.producer_id, producer_epoch=given.producer_epoch
            )
        )
    if given is ErrorCode.PRODUCER_FENCED and context.api_version < _FIRST_VERSION_WITH_FENCED:
        given = ErrorCode.INVALID_PRODUCER_EPOCH
    return _refused(given)


def _refused(error: ErrorCode) -> Answer:
    return Answer(InitProducerIdResponse(error_code=error, producer_id=_NONE, producer_epoch=_NONE))


def _identity(
    request: InitProducerIdRequest, context: RequestContext
) -> ProducerIdentity | ErrorCode:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        return ErrorCode.INVALID_REQUEST
    state = context.state
    if request.transactional_id is None:
        return state.producer_ids.new_producer()
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= state.limits.transaction_max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    if state.cluster.named(TRANSACTION_STATE_TOPIC) is None:
        return ErrorCode.NOT_COORDINATOR
    expected = None
    if request.producer_id != _NONE:
        expected = ProducerIdentity(
            ProducerId(request.producer_id), ProducerEpoch(request.producer_epoch)
        )
    return state.producer_ids.init_transactional(request.transactional_id, expected)
