"""The broker's settings, by Kafka's names, read strictly."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.reference_broker.state.config_values import ConfigDefinition as Definition
from harness.reference_broker.state.config_values import ConfigError, ConfigValue
from harness.reference_broker.state.topic_configs import TOPIC_CONFIGS, TopicConfig
from harness.suggestion import did_you_mean

_INT_MAX = 2**31 - 1


class SettingError(ValueError):
    """A setting that does not exist or has an illegal value; the message says what to write."""


_OWN_SETTINGS = (
    Definition("advertised.listeners", "string", ""),
    Definition("auto.create.topics.enable", "boolean", "true"),
    Definition("broker.rack", "string", ""),
    Definition("connections.max.idle.ms", "long", "600000"),
    Definition("default.replication.factor", "int", "1", 1, 32767),
    Definition("delete.topic.enable", "boolean", "true"),
    Definition("fetch.max.bytes", "int", "57671680", 1024),
    Definition("max.connections", "int", str(_INT_MAX), 0),
    Definition("max.connections.per.ip", "int", str(_INT_MAX), 0),
    Definition("max.incremental.fetch.session.cache.slots", "int", "1000", 0),
    Definition("max.request.partition.size.limit", "int", "2000", 1),
    Definition("node.id", "int", "1", 0),
    Definition("num.partitions", "int", "1", 1),
    Definition("offsets.topic.num.partitions", "int", "50", 1),
    Definition("offsets.topic.segment.bytes", "int", "104857600", 1),
    Definition("producer.id.expiration.ms", "int", "86400000", 1),
    Definition("share.coordinator.state.topic.num.partitions", "int", "50", 1),
    Definition("share.coordinator.state.topic.segment.bytes", "int", "104857600", 1),
    Definition("socket.request.max.bytes", "int", "104857600", 1),
    Definition("transaction.max.timeout.ms", "int", "900000", 1),
    Definition("transaction.state.log.num.partitions", "int", "50", 1),
    Definition("transaction.state.log.segment.bytes", "int", "104857600", 1),
)
_TOPIC_DEFAULTS = {
    definition.broker_setting: definition
    for definition in TOPIC_CONFIGS.values()
    if definition.broker_setting is not None
}
_KNOWN = {definition.name: definition for definition in _OWN_SETTINGS}


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """All settings with their values.

    `topic_defaults` holds the given settings that topics inherit, as text, by broker name.
    """

    values: Mapping[str, ConfigValue]
    topic_defaults: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str] | None = None) -> "BrokerSettings":
        """Read and check `given`; what is not given has Kafka's default. Raises SettingError."""
        given = {} if given is None else given
        for name in given:
            if name not in _KNOWN and name not in _TOPIC_DEFAULTS:
                known = sorted([*_KNOWN, *_TOPIC_DEFAULTS])
                near = did_you_mean(name, known)
                raise SettingError(
                    f"unknown broker setting {name!r}{near}; known are: {', '.join(known)}"
                )
        topic_defaults = {name: text for name, text in given.items() if name in _TOPIC_DEFAULTS}
        try:
            values = {
                name: definition.parse(given.get(name, definition.default))
                for name, definition in _KNOWN.items()
            }
            for name, text in topic_defaults.items():
                _TOPIC_DEFAULTS[name].parse(text)
            TopicConfig.of({}, topic_defaults)
        except ConfigError as error:
            raise SettingError(f"broker setting: {error}") from error
        return cls(values, topic_defaults)

    def number(self, name: str) -> int:
        """A setting of type int or long."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        """A setting of type boolean."""
        return self.values[name] is True

    def text(self, name: str) -> str:
        """A setting of type string."""
        return str(self.values[name])


def parse_assignments(assignments: tuple[str, ...]) -> dict[str, str]:
    """Turn "name=value" texts into a mapping. Raises SettingError for any other form."""
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator or not name.strip():
            raise SettingError(f"a setting is written name=value, not {assignment!r}")
        if name.strip() in given:
            raise SettingError(f"broker setting {name.strip()!r} is given twice")
        given[name.strip()] = value
    return given
