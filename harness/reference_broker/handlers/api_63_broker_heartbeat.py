"""BrokerHeartbeat: API key 63, versions 0 to 2; only on the controller's listener.

Behaviour
- Who has read the metadata up to its registration is unfenced; who wants to be fenced is.
- Who wants to shut down loses its leaderships first, and may go when the others have read of it.
- An older broker epoch, or an unknown id, is STALE_BROKER_EPOCH (77).

Version notes
- v1   log directories that are offline (KIP-858), which are not looked at
- v2   log directories that take nothing new (KIP-1066), which are not looked at
"""

from harness.codec.messages import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from harness.ids import BrokerId
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import heartbeat

API_KEY = 63


def handle(request: BrokerHeartbeatRequest, context: RequestContext) -> Answer:
    """Take note, and tell the broker what it is now."""
    role, state, now = context.role, context.state, context.now()
    assert role is not None
    try:
        records, reply = heartbeat(state, role, request, now)
    except ControllerRefused as refused:
        return Answer(BrokerHeartbeatResponse(error_code=refused.error))
    if records:
        state.change_metadata(records, now)
        broker = state.brokers.get(request.broker_id)
        if broker is not None and broker.is_shutting_down and not broker.is_fenced:
            role.sessions.await_shutdown(BrokerId(request.broker_id), role.log.end_offset - 1)
    return Answer(
        BrokerHeartbeatResponse(
            is_caught_up=reply.is_caught_up,
            is_fenced=reply.is_fenced,
            should_shut_down=reply.should_shut_down,
        )
    )
