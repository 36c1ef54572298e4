"""The filter of a request for client quotas.

Source: KIP-546, class ClientQuotasImage (describe).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.quotas.client_quotas import CLIENT_ID, IP, USER, Entity
from harness.reference_broker.zookeeper_names import is_node_name

EXACT, DEFAULT, ANY = 0, 1, 2
"""The match types: by name; the default entity, which stands for all others; any entity."""
FilterPart = tuple[str, int, str | None]
"""An entity type, a match type and a name."""


class FilterRefused(Exception):
    """A contradictory filter; the message gives the reason."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """``names`` maps types to wanted names, None for the default; ``kinds`` match any name."""

    names: dict[str, str | None]
    kinds: frozenset[str]
    is_strict: bool

    def passes(self, entity: Entity) -> bool:
        """True if the entity matches the filter."""
        parts = dict(entity)
        if self.is_strict and len(parts) != len(self.names) + len(self.kinds):
            return False
        return self.kinds <= parts.keys() and all(
            kind in parts and parts[kind] == name for kind, name in self.names.items()
        )


def filter_of(parts: Sequence[FilterPart], *, is_strict: bool) -> QuotaFilter:
    """Return the filter of types, match types and names. Raises FilterRefused."""
    names: dict[str, str | None] = {}
    kinds: set[str] = set()
    for kind, match_type, match in parts:
        _check_kind(kind, {*names, *kinds})
        _check_match(match_type, match)
        if match_type == ANY:
            kinds.add(kind)
        else:
            names[kind] = match
    asked = {*names, *kinds}
    if IP in asked and len(asked) > 1:
        raise FilterRefused(ErrorCode.INVALID_REQUEST, "An ip is asked for alone.")
    return QuotaFilter(names, frozenset(kinds), is_strict)


def parsed(parts: Sequence[FilterPart]) -> list[FilterPart]:
    """Return the parts as a broker with a ZooKeeper parses them, without needless names.

    Raises FilterRefused for what it does not foresee (class DescribeClientQuotasRequest, filter).
    """
    for kind, match_type, match in parts:
        if match_type not in (EXACT, DEFAULT, ANY) or (match_type == EXACT and match is None):
            message = f"Match type {match_type} of {kind} is not foreseen with {match!r}."
            raise FilterRefused(ErrorCode.UNKNOWN_SERVER_ERROR, message)
    return [(kind, how, match if how == EXACT else None) for kind, how, match in parts]


def check_lookups(wanted: QuotaFilter) -> None:
    """Raise FilterRefused for a name that a broker looks for in ZooKeeper, and that is no path.

    It looks for the names of whole entities; all others it compares (class ZkAdminManager,
    handleDescribeClientQuotas).
    """
    asked, named = {*wanted.names, *wanted.kinds}, {*wanted.names}
    is_whole = bool(named) and (wanted.is_strict or IP in named or {USER, CLIENT_ID} == named)
    if is_whole and asked == named:
        for name in wanted.names.values():
            if name is not None and not is_node_name(name):
                raise FilterRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"{name!r} is no path.")


def _check_kind(kind: str, before: set[str]) -> None:
    if not kind:
        raise FilterRefused(ErrorCode.INVALID_REQUEST, "A type of entity is empty.")
    if kind in before:
        raise FilterRefused(ErrorCode.INVALID_REQUEST, f"The type {kind} is named twice.")
    if kind not in (IP, USER, CLIENT_ID):
        raise FilterRefused(ErrorCode.UNSUPPORTED_VERSION, f"There are no quotas for {kind}.")


def _check_match(match_type: int, match: str | None) -> None:
    if match_type not in (EXACT, DEFAULT, ANY):
        raise FilterRefused(ErrorCode.INVALID_REQUEST, f"There is no match type {match_type}.")
    if (match is None) is (match_type == EXACT):
        raise FilterRefused(
            ErrorCode.INVALID_REQUEST, f"Match type {match_type} does not go with {match!r}."
        )
