"""UnregisterBroker: API key 64, versions 0 to 0.

Behaviour
- The broker is forgotten; an id that is not registered is BROKER_ID_NOT_REGISTERED (102).
"""

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import UnregisterBrokerRequest, UnregisterBrokerResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.fencing import unregistered

API_KEY = 64


def handle(request: UnregisterBrokerRequest, context: RequestContext) -> Answer:
    """Remove the broker's registration."""
    registered = context.state.brokers.get(request.broker_id)
    if registered is None:
        return Answer(
            UnregisterBrokerResponse(
                error_code=ErrorCode.BROKER_ID_NOT_REGISTERED,
                error_message=f"Broker ID {request.broker_id} is not currently registered",
            )
        )
    context.state.change_metadata(unregistered(context.state, registered), context.now())
    if context.role is not None:
        context.role.sessions.forget(BrokerId(request.broker_id))
    return Answer(UnregisterBrokerResponse(error_message=None))
