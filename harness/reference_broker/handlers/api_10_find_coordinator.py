"""FindCoordinator: API key 10, versions 0 to 6.

Behaviour
- The coordinator is the leader of the key's partition of the internal topic. While that topic does
  not exist, the answer is COORDINATOR_NOT_AVAILABLE and the topic is created.

Version notes
- v1   key types: 0 group, 1 transaction (KIP-98)
- v4   several keys at once (KIP-699); a coordinator has an empty error message, but for an unknown
       key type
- v6   key type 2, share group state (KIP-932)

Not done
- The APIs of the coordinators themselves.
"""

import base64

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    Outcome,
    RequestContext,
)
from harness.reference_broker.state.groups.group_log import java_hash
from harness.reference_broker.state.topics.topic_names import (
    GROUP_METADATA_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
)

API_KEY = 10
_FIRST_VERSION_WITH_MANY = 4
_FIRST_VERSION_WITH_SHARE = 6
_SHARE = 2
_TOPIC_OF_KEY_TYPE = {
    0: GROUP_METADATA_TOPIC,
    1: TRANSACTION_STATE_TOPIC,
    _SHARE: SHARE_GROUP_STATE_TOPIC,
}
_FIRST_TYPES = (0, 1)
_TYPE_IS_AN_ERROR = (2, 3)  # before, class FindCoordinatorRequest looks at the type
_NO_NODE = -1
_ID_BYTES = 16


def handle(request: FindCoordinatorRequest, context: RequestContext) -> Outcome:
    """Name the coordinator of each key."""
    if request.key_type not in _FIRST_TYPES and not context.state.like.since(*_TYPE_IS_AN_ERROR):
        return CloseConnection(f"there is no coordinator type {request.key_type}")
    keys = request.coordinator_keys
    if context.api_version < _FIRST_VERSION_WITH_MANY:
        keys = [request.key]
    found = [_coordinator(key, request.key_type, context) for key in keys]
    if context.api_version >= _FIRST_VERSION_WITH_MANY:
        return Answer(FindCoordinatorResponse(coordinators=found))
    (only,) = found
    return Answer(
        FindCoordinatorResponse(
            error_code=only.error_code,
            error_message=_text_of(ErrorCode(only.error_code)),
            node_id=only.node_id,
            host=only.host,
            port=only.port,
        )
    )


def _coordinator(
    key: str, key_type: int, context: RequestContext
) -> FindCoordinatorResponse.Coordinator:
    error = _problem_with(key, key_type, context)
    if error is not ErrorCode.NONE:
        return FindCoordinatorResponse.Coordinator(
            key=key,
            error_code=error,
            error_message="" if key_type in _TOPIC_OF_KEY_TYPE else _text_of(error),
            node_id=_NO_NODE,
            port=_NO_NODE,
        )
    topic = context.state.cluster.named(_TOPIC_OF_KEY_TYPE[key_type])
    assert topic is not None
    partition = topic.partitions[java_hash(key) % len(topic.partitions)]
    leader_id = partition.registration.leader
    at = context.state.endpoint_of(leader_id, context.listener)
    if at is None:
        return FindCoordinatorResponse.Coordinator(
            key=key, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, node_id=_NO_NODE, port=_NO_NODE
        )
    return FindCoordinatorResponse.Coordinator(
        key=key, node_id=leader_id, host=at.host, port=at.port
    )


def _problem_with(key: str, key_type: int, context: RequestContext) -> ErrorCode:
    topic = _TOPIC_OF_KEY_TYPE.get(key_type)
    if topic is None:
        return ErrorCode.INVALID_REQUEST
    may_be_share = context.api_version >= _FIRST_VERSION_WITH_SHARE and _is_share_key(key)
    if key_type == _SHARE and not may_be_share:
        return ErrorCode.INVALID_REQUEST
    if context.state.cluster.named(topic) is None:
        context.state.auto_create_topic(topic, context.randomness, context.now())
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.NONE


def _is_share_key(key: str) -> bool:
    """True for a share key: group, topic id and partition, joined by colons."""
    parts = key.rsplit(":", 2)
    if len(parts) != 3 or not parts[0].strip() or not _is_topic_id(parts[1]):
        return False
    return parts[2].isascii() and parts[2].isdigit()


def _is_topic_id(text: str) -> bool:
    """True for 16 bytes in url-safe base64, with or without padding (class Uuid)."""
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except ValueError:
        return False
    return len(found) == _ID_BYTES


def _text_of(error: ErrorCode) -> str:
    return "NONE" if error is ErrorCode.NONE else f"There is no coordinator: {error.name}."
