"""The common part of both requests that change configs (class ConfigAdminManager)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterConfigsRequest, IncrementalAlterConfigsRequest
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.outcome import CloseConnection, RequestContext
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.configs.changes import (
    Changed,
    ConfigChange,
    ConfigOperation,
    changed,
    check_changes,
    dialect_of,
    replaced,
)
from harness.reference_broker.state.configs.kinds import (
    KINDS,
    OF_ONE_BROKER,
    ConfigKind,
    ResourceType,
)
from harness.reference_broker.state.configs.refused import ConfigsRefused
from harness.reference_broker.state.controller.circumstances import ELIGIBLE_LEADERS
from harness.reference_broker.state.registrations.metadata_records import (
    config_records,
    eligible_cleared,
)

R = TypeVar("R")
_OPERATIONS = frozenset(ConfigOperation)
_ANY_TYPE_IS_ANSWERED = (2, 6)  # KAFKA-9433; before, class ResourceType has the numbers 0 to 4
_TYPES_ARE_OF_CLIENTS = (2, 0)  # class ConfigResource.Type; before, class ResourceType
_KNOWN_TYPES_BEFORE = range(5)
_TYPES_WITH_ZOOKEEPER = frozenset(
    {ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER}
)
_NULL_FAILS_ALL = (2, 0)  # class AlterConfigsRequest; before, AdminManager fails one resource
_TWICE_IS_REFUSED = (3, 2)
"""KAFKA-13552 (class ConfigAdminManager). Before, what is asked last of a resource counts, and
in AlterConfigs what is asked last of a config. There a null fails all resources, and in both
requests a type that cannot be changed.
"""


@dataclass(frozen=True, slots=True)
class RequestedChange:
    """A resource and its requested changes."""

    resource_type: int
    resource_name: str
    changes: Sequence[ConfigChange]

    @property
    def has_unknown_operation(self) -> bool:
        """True if a change has an operation that no config allows."""
        return any(change.operation not in _OPERATIONS for change in self.changes)


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """`types` are the types to change this way; `by_key`: configs that are not named stay."""

    types: frozenset[int]
    by_key: bool


ALTERED_BY_KEY = ResponseForm(frozenset(KINDS), by_key=True)
ALTERED_WHOLE = ResponseForm(frozenset(KINDS) - {ResourceType.BROKER_LOGGER}, by_key=False)


def asked_in(
    request: AlterConfigsRequest | IncrementalAlterConfigsRequest,
) -> list[RequestedChange]:
    """Return the requested changes, resource by resource."""
    return [
        RequestedChange(
            resource.resource_type,
            resource.resource_name,
            [_change_in(config) for config in resource.configs],
        )
        for resource in request.resources
    ]


def _change_in(
    config: AlterConfigsRequest.AlterableConfig | IncrementalAlterConfigsRequest.AlterableConfig,
) -> ConfigChange:
    if isinstance(config, AlterConfigsRequest.AlterableConfig):
        return ConfigChange(config.name, ConfigOperation.SET, config.value)
    return ConfigChange(config.name, config.config_operation, config.value)


def change_all(
    asked: Sequence[RequestedChange],
    way: ResponseForm,
    context: RequestContext,
    *,
    validate_only: bool,
) -> list[tuple[RequestedChange, ConfigsRefused | None]]:
    """Change each resource as requested; return each with its refusal, None if it was changed.

    In a cluster this is the controller: the broker itself has checked configs of one broker before.
    """
    like = context.state.like
    if not like.since(*_ANY_TYPE_IS_ANSWERED):
        asked = _each_once(
            [replace(one, resource_type=known_type(one.resource_type)) for one in asked]
        )
    if not like.since(*_TWICE_IS_REFUSED):
        refusal = _refusal_of_all(asked, way, like)
        if refusal is not None:
            return [(each, refusal) for each in asked]
        asked = _each_once(asked)
    refusals = refused_here(asked, way, context.state, is_controller=context.role is not None)
    has_zookeeper = context.state.like.keeps_topics_in_zookeeper
    broken = not has_zookeeper and any(
        refusal is None and each.resource_type not in OF_ONE_BROKER and each.has_unknown_operation
        for each, refusal in zip(asked, refusals, strict=True)
    )
    for index, each in enumerate(asked):
        if refusals[index] is not None:
            continue
        refusals[index] = (
            ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "There is no such operation.")
            if broken
            else _refusal(each, way, context, validate_only=validate_only)
        )
    return list(zip(asked, refusals, strict=True))


def _each_once(asked: Sequence[RequestedChange]) -> list[RequestedChange]:
    return list({(each.resource_type, each.resource_name): each for each in asked}.values())


def _refusal_of_all(
    asked: Sequence[RequestedChange], way: ResponseForm, like: EmulatedRelease
) -> ConfigsRefused | None:
    """Return the error of a request that fails as a whole before 3.2 (class KafkaApis)."""
    values = [change.value for each in asked for change in each.changes]
    if None in values and not way.by_key and like.since(*_NULL_FAILS_ALL):
        return ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "A config needs a value.")
    if any(each.resource_type not in way.types & _TYPES_WITH_ZOOKEEPER for each in asked):
        return _bad_request("A type of resource cannot be changed.")
    return None


def unreadable(types: Iterable[int], like: EmulatedRelease) -> CloseConnection | None:
    """Return the outcome for a type below 0, at which Kafka's parser fails before 2.0."""
    if like.since(*_TYPES_ARE_OF_CLIENTS) or all(one >= 0 for one in types):
        return None
    return CloseConnection("a resource type is below 0")


def known_type(resource_type: int) -> int:
    """Return the type as releases before 2.6 sent it back: 0 for one that they do not know."""
    return resource_type if resource_type in _KNOWN_TYPES_BEFORE else 0


def refused_here(
    asked: Sequence[RequestedChange],
    way: ResponseForm,
    state: BrokerState,
    *,
    is_controller: bool = False,
) -> list[ConfigsRefused | None]:
    """Return a broker's own refusals, resource by resource, before any change is made."""
    times = Counter((each.resource_type, each.resource_name) for each in asked)
    most = 1 if state.like.since(*_TWICE_IS_REFUSED) else len(asked)
    return [
        _bad_request("A resource is named twice.")
        if times[each.resource_type, each.resource_name] > most
        else _refusal_before(each, way, state, is_controller=is_controller)
        for each in asked
    ]


def answers(
    results: Sequence[tuple[RequestedChange, ConfigsRefused | None]], make: Callable[..., R]
) -> list[R]:
    """Return the results as a response has them."""
    return [
        make(
            error_code=ErrorCode.NONE if refusal is None else refusal.error,
            error_message=None if refusal is None else refusal.message,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
        )
        for asked, refusal in results
    ]


def _refusal_before(
    asked: RequestedChange, way: ResponseForm, state: BrokerState, *, is_controller: bool
) -> ConfigsRefused | None:
    try:
        if way.by_key or state.like.since(*_TWICE_IS_REFUSED):
            check_changes(asked.changes)
        elif any(change.value is None for change in asked.changes):
            return ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "A config needs a value.")
        if asked.resource_type not in way.types:
            return _bad_request(f"Unknown resource type {asked.resource_type}")
        kind = OF_ONE_BROKER.get(asked.resource_type)
        if kind is not None:
            if asked.has_unknown_operation and not state.like.keeps_topics_in_zookeeper:
                return _bad_request("There is no such operation.")
            if not is_controller:
                kind.check_here(state, asked.resource_name, _wanted(kind, asked, way, state))
    except ConfigsRefused as refusal:
        return refusal
    return None


def _refusal(
    asked: RequestedChange, way: ResponseForm, context: RequestContext, *, validate_only: bool
) -> ConfigsRefused | None:
    kind, state, name = KINDS[asked.resource_type], context.state, asked.resource_name
    try:
        wanted = _wanted(kind, asked, way, state)
        kind.check(state, name, wanted)
    except ConfigsRefused as refusal:
        return refusal
    if not validate_only:
        before = kind.current(state, name)
        records = config_records(asked.resource_type, name, before, wanted.values)
        if state.features.get(ELIGIBLE_LEADERS, 0) > 0:
            records += eligible_cleared(records)
        state.change_metadata(records, context.now())
    return None


def _wanted(
    kind: ConfigKind, asked: RequestedChange, way: ResponseForm, state: BrokerState
) -> Changed:
    """Return the configs after the change. Raises ConfigsRefused."""
    if not way.by_key:
        return replaced(asked.changes)
    current = kind.current(state, asked.resource_name)
    default = partial(kind.list_default, state)
    return changed(current, asked.changes, default, dialect_of(state.like))


def _bad_request(message: str) -> ConfigsRefused:
    return ConfigsRefused(ErrorCode.INVALID_REQUEST, message)
