"""One access control entry, and the filter that selects entries.

Source: KIP-11, KIP-140, KIP-290; classes StandardAcl, ResourcePatternFilter,
AccessControlEntryFilter. The numbers are those of messages and records.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from uuid import UUID

    from harness.codec.messages import AccessControlEntryRecord

UNKNOWN = 0
ANY = 1
"""In a filter: every value. The same number in all four enumerations."""
WILDCARD = "*"
"""As the name of a literal pattern: every resource; as a host: every host."""
CLUSTER_NAME = "kafka-cluster"
"""The only resource of the type CLUSTER."""
EVERY_USER = "User:*"


class AclResource(IntEnum):
    """The types of resources (class ResourceType)."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class AclPattern(IntEnum):
    """The types of patterns (class PatternType)."""

    LITERAL = 3
    PREFIXED = 4


MATCH = 2
"""In a filter: patterns of every type that apply to the name."""


class AclOperation(IntEnum):
    """The operations (class AclOperation)."""

    ALL = 2
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


class AclPermission(IntEnum):
    """The permissions (class AclPermissionType)."""

    DENY = 2
    ALLOW = 3


class Acl(NamedTuple):
    """One entry: a principal may, or may not, do an operation with resources, from a host."""

    resource: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int

    @classmethod
    def read(cls, record: AccessControlEntryRecord) -> Acl:
        """Return the entry of a record."""
        return cls(
            record.resource_type,
            record.resource_name,
            record.pattern_type,
            record.principal,
            record.host,
            record.operation,
            record.permission_type,
        )

    def as_record(self, acl_id: UUID) -> AccessControlEntryRecord:
        """Return the record that adds this entry."""
        # Not at the start: most brokers have no entries.
        from harness.codec.messages import AccessControlEntryRecord

        return AccessControlEntryRecord(
            id=acl_id,
            resource_type=self.resource,
            resource_name=self.name,
            pattern_type=self.pattern,
            principal=self.principal,
            host=self.host,
            operation=self.operation,
            permission_type=self.permission,
        )


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Selects entries; None and ANY stand for every value."""

    resource: int = ANY
    name: str | None = None
    pattern: int = ANY
    principal: str | None = None
    host: str | None = None
    operation: int = ANY
    permission: int = ANY

    def matches(self, acl: Acl) -> bool:
        """Return True if the entry is selected."""
        return (
            self.resource in (ANY, acl.resource)
            and self.pattern in (ANY, MATCH, acl.pattern)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (ANY, acl.operation)
            and self.permission in (ANY, acl.permission)
            and self._selects_name(acl)
        )

    def _selects_name(self, acl: Acl) -> bool:
        if self.name is None or self.name == acl.name:
            return True
        if self.pattern != MATCH:
            return False
        if acl.pattern == AclPattern.PREFIXED:
            return self.name.startswith(acl.name)
        return acl.name == WILDCARD
