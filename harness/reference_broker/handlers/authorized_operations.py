"""The operations that a client may do. Without an authorizer: all operations of a resource.

Source: classes AclOperation (the codes), AclEntry (the operations of each resource).
"""

NOT_ASKED = -(2**31)
"""The value in an answer to a request that did not ask for operations."""


def _bits(*codes: int) -> int:
    return sum(1 << code for code in codes)


# 3 to 12 are read, write, create, delete, alter, describe, cluster action, describe configs,
# alter configs, idempotent write.
GROUP_OPERATIONS = _bits(3, 6, 8, 10, 11)
GROUP_OPERATIONS_WITHOUT_CONFIGS = _bits(3, 6, 8)
TOPIC_OPERATIONS = _bits(3, 4, 5, 6, 7, 8, 10, 11)
CLUSTER_OPERATIONS = _bits(5, 7, 8, 9, 10, 11, 12)
