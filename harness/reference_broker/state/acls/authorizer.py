"""The decisions of an authorizer.

In their order (class StandardAuthorizerData, authorize):

1. A super user may do everything.
2. A matching entry that denies wins over all that allow. An entry that allows READ, WRITE, DELETE
   or ALTER allows DESCRIBE too, and ALTER_CONFIGS allows DESCRIBE_CONFIGS; one that denies denies
   its own operation alone.
3. A matching entry that allows.
4. A resource without any entry, of whichever principal: `allow.everyone.if.no.acl.found`.
5. Else the principal may not.

Source: KIP-11, KIP-290, KIP-679 (the operation with any resource), KIP-801.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from harness.reference_broker.state.acls.acl import (
    EVERY_USER,
    WILDCARD,
    Acl,
    AclOperation,
    AclPattern,
    AclPermission,
)
from harness.reference_broker.state.acls.acl_index import AclIndex

_OP = AclOperation
_ALLOWED_BY: Mapping[int, frozenset[int]] = {
    _OP.DESCRIBE: frozenset({_OP.DESCRIBE, _OP.READ, _OP.WRITE, _OP.DELETE, _OP.ALTER}),
    _OP.DESCRIBE_CONFIGS: frozenset({_OP.DESCRIBE_CONFIGS, _OP.ALTER_CONFIGS}),
}
"""The operations that include another one, by that one."""
_Pattern = tuple[str, int]
_EVERY_NAME: _Pattern = (WILDCARD, AclPattern.LITERAL)
_ANY_NAME = "hardcode"
"""Kafka decides by this name if a principal may use resources without entries."""


class ClientIdentity(NamedTuple):
    """The principal of a connection, as in `User:alice`, and the address of its host."""

    principal: str
    host: str


class Authorizer:
    """Decides by the entries of `acls`, which change under it."""

    __slots__ = ("_acls", "_allows_by_default", "_super_users")

    def __init__(
        self, acls: AclIndex, super_users: frozenset[str], *, allows_by_default: bool
    ) -> None:
        self._acls, self._super_users = acls, super_users
        self._allows_by_default = allows_by_default

    def allows(self, client: ClientIdentity, operation: int, resource: int, name: str) -> bool:
        """Return True if the client may do this with the resource of that name."""
        if client.principal in self._super_users:
            return True
        principals = (client.principal, EVERY_USER)
        has_entries, theirs = self._acls.applying(resource, name, principals)
        decided = {
            acl.permission
            for acl in theirs
            if acl.host in (WILDCARD, client.host) and _covers(acl, operation)
        }
        if AclPermission.DENY in decided:
            return False
        return AclPermission.ALLOW in decided or (not has_entries and self._allows_by_default)

    def allows_with_any(self, client: ClientIdentity, operation: int, resource: int) -> bool:
        """Return True if there is a name with which the client may do this (KIP-679)."""
        if self.allows(client, operation, resource, _ANY_NAME):
            return True
        theirs = [
            acl
            for acl in self._acls.of((client.principal, EVERY_USER))
            if acl.resource == resource
            and acl.host in (WILDCARD, client.host)
            and acl.operation in (operation, _OP.ALL)
        ]
        allowed = {each[1:3] for each in theirs if each.permission == AclPermission.ALLOW}
        denied = {each[1:3] for each in theirs if each.permission == AclPermission.DENY}
        if _EVERY_NAME in denied:
            return False
        return any(not _is_hidden(each, denied) for each in allowed)


def _covers(acl: Acl, operation: int) -> bool:
    if acl.operation in (operation, _OP.ALL):
        return True
    implied = _ALLOWED_BY.get(operation, frozenset())
    return acl.permission == AclPermission.ALLOW and acl.operation in implied


def _is_hidden(allowed: _Pattern, denied: Collection[_Pattern]) -> bool:
    """Return True if a denial covers every name that a pattern allows, but all names."""
    name, kind = allowed
    if allowed == _EVERY_NAME:
        return False
    if kind == AclPattern.LITERAL and allowed in denied:
        return True
    return any((name[:end], AclPattern.PREFIXED) in denied for end in range(1, len(name) + 1))
