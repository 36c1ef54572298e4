"""A broker's configs in layers: its own dynamic ones, those for all brokers, static ones, defaults.

Source: KIP-226, class DynamicBrokerConfig.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease
from harness.reference_broker.state.config_definitions.broker_table import (
    broker_configs,
    config_named,
    names_in_order,
)
from harness.reference_broker.state.config_definitions.config_values import ConfigError
from harness.reference_broker.state.config_definitions.entry import ConfigSource, Synonym
from harness.reference_broker.state.config_definitions.topic_configs import INHERITED
from harness.reference_broker.state.config_definitions.units_of_time import in_milliseconds

ELIGIBLE_LEADERS_ARE_KEPT = (4, 1)  # KIP-966


@dataclass(slots=True)
class BrokerConfigLayers:
    """`static` is given at the start; clients change the other layers. All values are text.

    `others` are the configs set for other brokers, by broker id; they do not apply to this one.
    """

    static: Mapping[str, str]
    cluster: Mapping[str, str] = field(default_factory=dict)
    broker: Mapping[str, str] = field(default_factory=dict)
    like: EmulatedRelease = LIKE_NONE
    others: dict[int, Mapping[str, str]] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return all names that are known or set, sorted."""
        known = {
            name for name, c in broker_configs(self.like.release).items() if c.changeable != "quota"
        }
        return sorted({*known, *self.static, *self.cluster, *self.broker})

    def synonyms(self, name: str) -> list[Synonym]:
        """Return the possible sources of the value of `name`, in order; empty without a value."""
        names = names_in_order(name)
        found = [
            Synonym(each, values[each], source)
            for source, values in self._layers(names)
            for each in names
            if each in values
        ]
        # A value of another name does not count before the first one of this name.
        first = next((i for i, s in enumerate(found) if s.name == name), len(found))
        return found[first:]

    def value(self, name: str) -> str | None:
        """Return the text in effect; None when there is no value."""
        return next((s.value for s in self.synonyms(name)), None)

    def dynamic(self, name: str) -> str | None:
        """Return the text that clients have set for this broker, or else for all; None without."""
        return self.broker.get(name, self.cluster.get(name))

    def inherited_by_topics(self) -> dict[str, str]:
        """Return the values set for configs that topics inherit, by the broker's names."""
        values = in_milliseconds({**self.static, **self.cluster, **self.broker})
        return {
            name: _as_topics_take_it(name, value)
            for name, value in values.items()
            if name in INHERITED
        }

    def _layers(self, names: Iterable[str]) -> list[tuple[ConfigSource, Mapping[str, str]]]:
        configs = {name: config_named(name, self.like) for name in names}
        defaults = {
            name: config.default
            for name, config in configs.items()
            if config is not None
            and config.default is not None
            and name in broker_configs(self.like.release)
        }
        return [
            (ConfigSource.BROKER, self.broker),
            (ConfigSource.CLUSTER, self.cluster),
            (ConfigSource.STATIC, self.static),
            (ConfigSource.DEFAULT, defaults),
        ]


def _as_topics_take_it(name: str, text: str) -> str:
    if name != "log.retention.ms":
        return text
    try:
        return text if int(text) >= 0 else "-1"
    except ValueError as error:
        raise ConfigError(f"Invalid value {text} for configuration {name}") from error
