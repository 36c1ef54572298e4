"""What both ways to change configs have in common (class ConfigAdminManager)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.configs.changes import (
    Change,
    Changed,
    Operation,
    changed,
    check_changes,
    dialect_of,
    replaced,
)
from harness.reference_broker.state.configs.kinds import KINDS, ConfigKind, ResourceType
from harness.reference_broker.state.configs.refused import ConfigsRefused
from harness.reference_broker.state.metadata_records import config_records

R = TypeVar("R")
_OPERATIONS = frozenset(Operation)
_TWICE_IS_REFUSED = (3, 2)  # KAFKA-13552; before, what is asked last of a resource counts


@dataclass(frozen=True, slots=True)
class Asked:
    """A resource and what to change of it."""

    resource_type: int
    resource_name: str
    changes: Sequence[Change]

    @property
    def has_unknown_operation(self) -> bool:
        """Whether something is wanted that cannot be done with any config."""
        return any(change.operation not in _OPERATIONS for change in self.changes)


@dataclass(frozen=True, slots=True)
class Way:
    """`types` can be changed this way; `by_key`: what is not named stays."""

    types: frozenset[int]
    by_key: bool


ALTERED_BY_KEY = Way(frozenset(KINDS), by_key=True)
ALTERED_WHOLE = Way(frozenset(KINDS) - {ResourceType.BROKER_LOGGER}, by_key=False)


def change_all(
    asked: Sequence[Asked], way: Way, context: RequestContext, *, validate_only: bool
) -> list[tuple[Asked, ConfigsRefused | None]]:
    """Change each resource as asked for; tells for each why it was not."""
    if not context.state.like.since(*_TWICE_IS_REFUSED):
        asked = list({(each.resource_type, each.resource_name): each for each in asked}.values())
    times = Counter((each.resource_type, each.resource_name) for each in asked)
    refusals: list[ConfigsRefused | None] = []
    broken = False
    for each in asked:
        if times[each.resource_type, each.resource_name] > 1:
            refusals.append(_bad_request("A resource is named twice."))
            continue
        refusal = _refusal_before(each, way, context.state)
        refusals.append(refusal)
        is_broken = each.resource_type in _LEFT_TO_CONTROLLER and each.has_unknown_operation
        broken = broken or (refusal is None and is_broken)
    for index, each in enumerate(asked):
        if refusals[index] is not None:
            continue
        refusals[index] = (
            ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "There is no such operation.")
            if broken
            else _refusal(each, way, context, validate_only=validate_only)
        )
    return list(zip(asked, refusals, strict=True))


def answers(
    results: Sequence[tuple[Asked, ConfigsRefused | None]], make: Callable[..., R]
) -> list[R]:
    """The results as a response has them."""
    return [
        make(
            error_code=ErrorCode.NONE if refusal is None else refusal.error,
            error_message=None if refusal is None else refusal.message,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
        )
        for asked, refusal in results
    ]


_LEFT_TO_CONTROLLER = frozenset(
    {ResourceType.TOPIC, ResourceType.CLIENT_METRICS, ResourceType.GROUP}
)


def _refusal_before(asked: Asked, way: Way, state: BrokerState) -> ConfigsRefused | None:
    """What the broker itself refuses, before anything of the request is carried out."""
    try:
        check_changes(asked.changes)
        if asked.resource_type not in way.types:
            return _bad_request(f"Unknown resource type {asked.resource_type}")
        if asked.resource_type not in _LEFT_TO_CONTROLLER:
            if asked.has_unknown_operation:
                return _bad_request("There is no such operation.")
            _checked(KINDS[asked.resource_type], asked, way, state)
    except ConfigsRefused as refusal:
        return refusal
    return None


def _refusal(
    asked: Asked, way: Way, context: RequestContext, *, validate_only: bool
) -> ConfigsRefused | None:
    kind, state = KINDS[asked.resource_type], context.state
    try:
        wanted = _checked(kind, asked, way, state)
    except ConfigsRefused as refusal:
        return refusal
    if not validate_only:
        name = asked.resource_name
        before = kind.current(state, name)
        records = config_records(asked.resource_type, name, before, wanted.values)
        state.change_metadata(records, context.now())
    return None


def _checked(kind: ConfigKind, asked: Asked, way: Way, state: BrokerState) -> Changed:
    name = asked.resource_name
    if way.by_key:
        current = kind.current(state, name)
        dialect = dialect_of(state.like)
        wanted = changed(current, asked.changes, lambda key: kind.list_default(state, key), dialect)
    else:
        wanted = replaced(asked.changes)
    kind.check(state, name, wanted)
    return wanted


def _bad_request(message: str) -> ConfigsRefused:
    return ConfigsRefused(ErrorCode.INVALID_REQUEST, message)
