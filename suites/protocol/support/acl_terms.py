"""The words of access control lists on the wire: resources, operations, and what stands for all."""

from __future__ import annotations

from enum import IntEnum

ANY, ALLOW = 1, 3
"""Of a filter: every operation, permission or type. Of a permission: it gives."""
LITERAL = 3
EVERY_HOST = "*"


class Resource(IntEnum):
    """``ResourceType`` of Kafka."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Operation(IntEnum):
    """``AclOperation`` of Kafka."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15
