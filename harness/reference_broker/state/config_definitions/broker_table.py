"""The configs of brokers: `broker_configs.tsv`, read on first use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease
from harness.reference_broker.state.config_definitions.config_table import (
    ConfigRow,
    config_table,
)
from harness.reference_broker.state.config_definitions.config_values import ConfigDefinition
from harness.reference_broker.state.config_definitions.topic_configs import INHERITED

Changeable = Literal["fixed", "cluster", "broker", "listener", "quota"]
_BEHIND_A_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.+)")

# A config that is not set falls back to these, in this order (class DynamicBrokerConfig).
_SYNONYMS = {
    "log.flush.interval.ms": ("log.flush.scheduler.interval.ms",),
    "log.retention.minutes": ("log.retention.hours",),
    "log.retention.ms": ("log.retention.minutes", "log.retention.hours"),
    "log.roll.jitter.ms": ("log.roll.jitter.hours",),
    "log.roll.ms": ("log.roll.hours",),
}

# Name, the first release with the default of today, and the one before.
_EARLIER_DEFAULTS = (
    ("log.message.timestamp.after.max.ms", (4, 0), "9223372036854775807"),
    ("message.max.bytes", (2, 5), "1000012"),
    ("replica.lag.time.max.ms", (2, 5), "10000"),  # KIP-537
    ("unclean.leader.election.enable", (0, 11), "true"),  # KIP-106
)


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """`default` is None for a config without a default, which has no value unless one is given."""

    definition: ConfigDefinition
    default: str | None
    changeable: Changeable


@cache
def broker_configs(release: str = "") -> Mapping[str, BrokerConfig]:
    """Return all configs that Kafka 4.4.0 knows, by name, with the defaults of the release."""
    like = EmulatedRelease(release)
    rows = config_table("harness.reference_broker.state.config_definitions", "broker_configs.tsv")
    found = {row.definition.name: _config(row) for row in rows}
    for name, until, default in _EARLIER_DEFAULTS:
        if not like.since(*until):
            found[name] = replace(found[name], default=default)
    return found


def config_named(name: str, like: EmulatedRelease = LIKE_NONE) -> BrokerConfig | None:
    """Return the config of this name, also behind a listener's prefix; None if there is none."""
    configs = broker_configs(like.release)
    found = configs.get(name)
    behind = _BEHIND_A_LISTENER.fullmatch(name)
    return configs.get(behind[1]) if found is None and behind else found


def is_behind_a_listener(name: str) -> bool:
    """True if it is a config of one listener."""
    return _BEHIND_A_LISTENER.fullmatch(name) is not None


def names_in_order(name: str) -> tuple[str, ...]:
    """Return the names that can give a config its value, highest precedence first."""
    behind = _BEHIND_A_LISTENER.fullmatch(name)
    if behind:
        return name, behind[1]
    return name, *_SYNONYMS.get(name, ())


def _config(row: ConfigRow) -> BrokerConfig:
    definition, default = row.definition, row.definition.default
    changeable = next(known for known in get_args(Changeable) if known == row.own["changeable"])
    like = INHERITED.get(definition.name)
    if like is not None and definition.name not in _LIMITLESS:
        definition = replace(like, name=definition.name, type=definition.type, default=default)
    return BrokerConfig(definition, None if default == "null" else default, changeable)


# A broker's config has the limits of the topics' that it gives a default to; but any negative time
# means for ever, where a topic takes -1 only.
_LIMITLESS = frozenset({"log.retention.ms"})
