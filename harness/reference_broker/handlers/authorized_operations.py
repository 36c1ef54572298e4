"""Which operations a client may do. Without an authorizer: all that there are for a resource.

Source: classes AclOperation (the codes), AclEntry (which operations a resource has).
"""

NOT_ASKED = -(2**31)
"""Stands in an answer whose request did not ask for operations."""


def _bits(*codes: int) -> int:
    return sum(1 << code for code in codes)


# 3 to 12 are read, write, create, delete, alter, describe, cluster action, describe configs,
# alter configs, idempotent write.
GROUP_OPERATIONS = _bits(3, 6, 8, 10, 11)
GROUP_OPERATIONS_WITHOUT_CONFIGS = _bits(3, 6, 8)
TOPIC_OPERATIONS = _bits(3, 4, 5, 6, 7, 8, 10, 11)
CLUSTER_OPERATIONS = _bits(5, 7, 8, 9, 10, 11, 12)
