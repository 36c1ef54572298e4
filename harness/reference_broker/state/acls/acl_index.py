"""All access control entries of a cluster, found by resource and principal.

A decision looks at the entries of one literal name, of the wildcard, and of each prefix of the name
that some entry has; the lengths of these prefixes are counted. So its cost does not grow with the
number of entries, which Kafka finds in a sorted set (class StandardAuthorizerData, checkSection).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from harness.reference_broker.state.acls.acl import WILDCARD, Acl, AclFilter, AclPattern

if TYPE_CHECKING:
    from harness.codec.messages import AccessControlEntryRecord, RemoveAccessControlEntryRecord

_ByPrincipal = dict[str, list[Acl]]


class AclIndex:
    """The entries. Only records change them."""

    __slots__ = ("_by_id", "_by_pattern", "_by_principal", "_ids", "_prefix_lengths")

    def __init__(self) -> None:
        self._by_id: dict[UUID, Acl] = {}
        self._ids: dict[Acl, UUID] = {}
        self._by_pattern: dict[tuple[int, int, str], _ByPrincipal] = {}
        self._by_principal: dict[str, dict[UUID, Acl]] = {}
        self._prefix_lengths: dict[int, Counter[int]] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, acl: Acl) -> bool:
        return acl in self._ids

    def put(self, record: AccessControlEntryRecord) -> None:
        """Add an entry."""
        acl = Acl.read(record)
        before = self._by_id.get(record.id)
        if before is not None:
            self._drop(record.id, before)
        self._by_id[record.id] = acl
        self._ids[acl] = record.id
        self._by_principal.setdefault(acl.principal, {})[record.id] = acl
        by_principal = self._by_pattern.setdefault((acl.resource, acl.pattern, acl.name), {})
        by_principal.setdefault(acl.principal, []).append(acl)
        if acl.pattern == AclPattern.PREFIXED:
            self._prefix_lengths.setdefault(acl.resource, Counter())[len(acl.name)] += 1

    def remove(self, record: RemoveAccessControlEntryRecord) -> None:
        """Remove an entry, if it exists."""
        acl = self._by_id.get(record.id)
        if acl is not None:
            self._drop(record.id, acl)

    def selected(self, wanted: AclFilter) -> list[tuple[UUID, Acl]]:
        """Return the entries that a filter selects, with their ids."""
        return [(acl_id, acl) for acl_id, acl in self._by_id.items() if wanted.matches(acl)]

    def of(self, principals: Iterable[str]) -> list[Acl]:
        """Return the entries of some principals."""
        return [acl for each in principals for acl in self._by_principal.get(each, {}).values()]

    def applying(
        self, resource: int, name: str, principals: Iterable[str]
    ) -> tuple[bool, list[Acl]]:
        """Return whether a resource has entries at all, and those of some principals."""
        literal = AclPattern.LITERAL
        keys = [(resource, literal, name)]
        if name != WILDCARD:
            keys.append((resource, literal, WILDCARD))
        keys += [
            (resource, AclPattern.PREFIXED, name[:length])
            for length in self._prefix_lengths.get(resource, ())
            if length <= len(name)
        ]
        found = [known for key in keys if (known := self._by_pattern.get(key)) is not None]
        theirs = [acl for known in found for each in principals for acl in known.get(each, ())]
        return bool(found), theirs

    def _drop(self, acl_id: UUID, acl: Acl) -> None:
        del self._by_id[acl_id]
        self._ids.pop(acl, None)
        theirs = self._by_principal[acl.principal]
        del theirs[acl_id]
        if not theirs:
            del self._by_principal[acl.principal]
        key = (acl.resource, acl.pattern, acl.name)
        by_principal = self._by_pattern[key]
        by_principal[acl.principal].remove(acl)
        if not by_principal[acl.principal]:
            del by_principal[acl.principal]
        if not by_principal:
            del self._by_pattern[key]
        if acl.pattern == AclPattern.PREFIXED:
            lengths = self._prefix_lengths[acl.resource]
            lengths[len(acl.name)] -= 1
            if not lengths[len(acl.name)]:
                del lengths[len(acl.name)]
