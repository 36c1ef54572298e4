"""BrokerRegistration: API key 62, versions 0 to 4; only on the controller's listener.

Behaviour
- A new incarnation gets a broker epoch of its own, and is fenced until its first heartbeats; the
  same one keeps its epoch.
- Another incarnation is refused while the session of the last one lives (101), another cluster's
  broker always (104), as are missing features (35) and bad directories (119).

Version notes
- v1   brokers that migrate from a ZooKeeper, which are refused
- v2   log directories (KIP-858)
- v3   the last broker epoch, which shows that the last incarnation ended in good order (KIP-966)
"""

from harness.base.ids import BrokerId
from harness.codec.messages import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    RegisterBrokerRecord,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.registration import registration_records

API_KEY = 62


def handle(request: BrokerRegistrationRequest, context: RequestContext) -> Answer:
    """Register a broker, and return its broker epoch."""
    role, state, now = context.role, context.state, context.now()
    assert role is not None
    offset, existing = role.log.end_offset, state.brokers.get(request.broker_id)
    try:
        records = registration_records(state, role, request, offset, now)
    except ControllerRefused as refused:
        return Answer(BrokerRegistrationResponse(error_code=refused.error))
    register = records[-1]
    assert isinstance(register, RegisterBrokerRecord)
    state.change_metadata(records, now)
    own = BrokerId(request.broker_id)
    role.registered_at[own] = role.log.end_offset - 1
    is_same = existing is not None and existing.incarnation_id == request.incarnation_id
    role.sessions.begin(own, is_same=is_same)
    return Answer(BrokerRegistrationResponse(broker_epoch=register.broker_epoch))
