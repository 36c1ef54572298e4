"""The operations that a client may do, as a response shows them (KIP-430).

Without an authorizer: all operations of a resource. Source: class AclEntry (the operations of each
resource), class AuthHelper (authorizedOperations).
"""

from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.acls.acl import CLUSTER_NAME

NOT_ASKED = -(2**31)
"""The value in an answer to a request that did not ask for operations."""
_NONE = 0
_CONFIGS = (rights.DESCRIBE_CONFIGS, rights.ALTER_CONFIGS)
_OF_GROUPS = (rights.READ, rights.DELETE, rights.DESCRIBE)
_OF_TOPICS = (*_OF_GROUPS, rights.WRITE, rights.CREATE, rights.ALTER, *_CONFIGS)
_OF_CLUSTER = (
    rights.CREATE,
    rights.ALTER,
    rights.DESCRIBE,
    rights.CLUSTER_ACTION,
    *_CONFIGS,
    rights.IDEMPOTENT_WRITE,
)
_GROUPS_HAVE_CONFIGS = (4, 0)  # KIP-848
_ALL_OF_TOPICS = sum(1 << each for each in _OF_TOPICS)


def topic_operations(name: str, context: RequestContext) -> int:
    """Return the operations with a topic."""
    if context.state.authorizer is None:
        return _ALL_OF_TOPICS
    return rights.bits_of(context, _OF_TOPICS, rights.TOPIC, name)


def group_operations(group_id: str, context: RequestContext) -> int:
    """Return the operations with a group."""
    has_configs = context.state.like.since(*_GROUPS_HAVE_CONFIGS)
    operations = (*_OF_GROUPS, *(_CONFIGS if has_configs else ()))
    return rights.bits_of(context, operations, rights.GROUP, group_id)


def cluster_operations(context: RequestContext) -> int:
    """Return the operations with the cluster; none for a client that may not describe it."""
    if not rights.may_cluster(context, rights.DESCRIBE):
        return _NONE
    return rights.bits_of(context, _OF_CLUSTER, rights.CLUSTER, CLUSTER_NAME)
