"""BrokerHeartbeat: API key 63, versions 0 to 2; only on the controller's listener.

Behaviour
- A broker that has read the metadata up to its registration is unfenced; one that asks to be fenced
  is fenced.
- A broker that wants to shut down loses its leaderships first, and may shut down when the other
  brokers have read of it.
- Partitions in the broker's offline directories get other leaders.
- An older broker epoch, or an unknown id, is STALE_BROKER_EPOCH (77).

Version notes
- v1   log directories that are offline (KIP-858)
- v2   log directories that take nothing new (KIP-1066), which are ignored
"""

from harness.base.ids import BrokerId
from harness.codec.messages import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller import fencing
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import check_broker_epoch, heartbeat

API_KEY = 63


def handle(request: BrokerHeartbeatRequest, context: RequestContext) -> Answer:
    """Record the heartbeat, and return the broker's state."""
    role, state, now = context.role, context.state, context.now()
    assert role is not None
    try:
        broker = check_broker_epoch(state, request.broker_id, request.broker_epoch)
        offline = fencing.directories_offline(state, broker, request.offline_log_dirs)
        if offline:  # before it may be unfenced: it must not lead what is there
            state.change_metadata(offline, now)
        records, reply = heartbeat(state, role, request, now)
    except ControllerRefused as refused:
        return Answer(BrokerHeartbeatResponse(error_code=refused.error))
    if records:
        state.change_metadata(records, now)
        changed = state.brokers.get(request.broker_id)
        if changed is not None and changed.is_shutting_down and not changed.is_fenced:
            role.sessions.await_shutdown(BrokerId(request.broker_id), role.log.end_offset - 1)
    return Answer(
        BrokerHeartbeatResponse(
            is_caught_up=reply.is_caught_up,
            is_fenced=reply.is_fenced,
            should_shut_down=reply.should_shut_down,
        )
    )
