"""Changes of a resource's configs by SET, DELETE, APPEND and SUBTRACT (KIP-339).

Source: class ConfigurationControlManager (incrementalAlterConfigs).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from harness.codec.error_code import ErrorCode
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.configs.refused import ConfigsRefused


class ConfigOperation(IntEnum):
    """The operation on a key."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


_OF_LISTS = (ConfigOperation.APPEND, ConfigOperation.SUBTRACT)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """`operation` is as sent and may be unknown. DELETE ignores `value`."""

    name: str
    operation: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """All configs of a resource after the changes, and the names that the changes contain."""

    values: Mapping[str, str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Differences between releases. `unique_items`: APPEND leaves out items that the list already
    contains; `senseless`: the error for an invalid value, or for a list operation on a config that
    is no list.
    """

    unique_items: bool
    senseless: ErrorCode


SINCE_3_3 = Dialect(unique_items=True, senseless=ErrorCode.INVALID_CONFIG)
BEFORE_3_3 = Dialect(unique_items=False, senseless=ErrorCode.INVALID_REQUEST)
"""KAFKA-13862, KAFKA-13899."""


def dialect_of(like: EmulatedRelease) -> Dialect:
    """Return the dialect of the release."""
    return SINCE_3_3 if like.since(3, 3) else BEFORE_3_3


ListDefault = Callable[[str], str | None]
"""The default of a config that is a list; None for all others."""


def check_changes(changes: Sequence[ConfigChange]) -> None:
    """Raise ConfigsRefused if a key occurs twice, or has no value without being deleted."""
    if len({change.name for change in changes}) < len(changes):
        raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "A config is named twice.")
    nulls = [c.name for c in changes if c.value is None and c.operation != ConfigOperation.DELETE]
    if nulls:
        raise ConfigsRefused(
            ErrorCode.INVALID_REQUEST, f"These configs need a value: {', '.join(nulls)}"
        )


def changed(
    current: Mapping[str, str],
    changes: Sequence[ConfigChange],
    list_default: ListDefault,
    dialect: Dialect = SINCE_3_3,
) -> Changed:
    """Return `current` after the changes.

    Raises ConfigsRefused for a list operation on no list, and for an unknown operation, which
    fails only its resource where there is a ZooKeeper (class ZkAdminManager).
    """
    values = dict(current)
    for change in changes:
        value = change.value or ""
        if change.operation == ConfigOperation.SET:
            values[change.name] = value
        elif change.operation == ConfigOperation.DELETE:
            values.pop(change.name, None)
        elif change.operation not in _OF_LISTS:
            raise ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "There is no such operation.")
        else:
            values[change.name] = _list_changed(values, change, value, list_default, dialect)
    return Changed(values, frozenset(change.name for change in changes))


def replaced(changes: Sequence[ConfigChange]) -> Changed:
    """Return the configs of a request that replaces all of a resource's configs (AlterConfigs)."""
    values = {change.name: change.value or "" for change in changes}
    return Changed(values, frozenset(values))


def _list_changed(
    values: Mapping[str, str],
    change: ConfigChange,
    value: str,
    list_default: ListDefault,
    dialect: Dialect,
) -> str:
    default = list_default(change.name)
    if default is None:
        raise ConfigsRefused(
            dialect.senseless,
            f"{ConfigOperation(change.operation).name} is for lists, {change.name} is none.",
        )
    items = [item for item in values.get(change.name, default).split(",") if item]
    for item in value.split(","):
        if change.operation == ConfigOperation.APPEND:
            items += [] if dialect.unique_items and item in items else [item]
        elif item in items:
            items.remove(item)
    return ",".join(items)
