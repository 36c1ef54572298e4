"""Configs of topics, set and inherited (class ConfigHelper)."""

from collections.abc import Mapping

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.config_definitions.config_values import ConfigError
from harness.reference_broker.state.config_definitions.entry import (
    ConfigEntry,
    ConfigSource,
    Synonym,
    entry_of,
)
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig, configs_of
from harness.reference_broker.state.configs.changes import Changed, dialect_of
from harness.reference_broker.state.configs.refused import ConfigsRefused
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_names import topic_name_problem
from harness.reference_broker.zookeeper_names import is_node_name

_UNKNOWN_IS_FORESEEN = (2, 7)  # KAFKA-10033; before, class AdminZkClient looks for the topic
_EXISTENCE_IS_LOOKED_AT = (2, 0)  # KAFKA-6778


def topic_entry(name: str, config: TopicConfig, layers: BrokerConfigLayers) -> ConfigEntry:
    """Return one config of a topic, with its value in `config`."""
    definition = config.definition_of(name)
    value = definition.shown(config.text_of(name))
    setting = definition.broker_setting
    synonyms = [] if setting is None else layers.synonyms(setting)
    if name in config.overrides:
        synonyms = [Synonym(name, value, ConfigSource.TOPIC), *synonyms]
    return entry_of(name, value, synonyms, definition)


def source_of(name: str, config: TopicConfig, layers: BrokerConfigLayers) -> ConfigSource:
    """Return the source of the value of one config of a topic."""
    if name in config.overrides:
        return ConfigSource.TOPIC
    setting = config.definition_of(name).broker_setting
    synonyms = layers.synonyms(setting) if setting else []
    return synonyms[0].source if synonyms else ConfigSource.DEFAULT


class TopicConfigs:
    """Resources of type TOPIC, by the topics' names."""

    def names(self, state: BrokerState) -> list[str]:
        """Return the names of all topics."""
        return [topic.name for topic in state.cluster.topics()]

    def entries(self, state: BrokerState, resource: str) -> list[ConfigEntry]:
        """Return all configs of a topic. Raises ConfigsRefused."""
        _check_name(resource)
        config = _config_of(state, resource)
        return [topic_entry(name, config, state.configs) for name in config.listed_names()]

    def current(self, state: BrokerState, resource: str) -> Mapping[str, str]:
        """Return the configs that are set for the topic itself.

        Raises ConfigsRefused for a name that is no path where configs are read from a ZooKeeper.
        """
        if state.like.keeps_topics_in_zookeeper and not is_node_name(resource):
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, f"'{resource}' is no path.")
        topic = state.cluster.named(resource)
        return {} if topic is None else topic.config.overrides

    def list_default(self, state: BrokerState, name: str) -> str | None:
        """Return the default of a topic's config that is a list; None for all others.

        Raises ConfigsRefused for an unknown name where there is a ZooKeeper: it is looked up before
        all checks (class ZkAdminManager, prepareIncrementalConfigs).
        """
        definition = configs_of(state.like).known.get(name)
        if definition is None and state.like.keeps_topics_in_zookeeper:
            raise ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"There is no config {name!r}.")
        return definition.default if definition and definition.type == "list" else None

    def check(self, state: BrokerState, resource: str, wanted: Changed) -> None:
        """Raise ConfigsRefused for bad values, then for an unknown topic, in Kafka's order.

        With a ZooKeeper the topic comes first (class ZkAdminManager).
        """
        has_zookeeper = state.like.keeps_topics_in_zookeeper
        if has_zookeeper and state.like.since(*_UNKNOWN_IS_FORESEEN):
            _existing(state, resource)
        elif not has_zookeeper and not resource:
            raise ConfigsRefused(ErrorCode.INVALID_REQUEST, "There are no configs of all topics.")
        _check_name(resource)
        if has_zookeeper and state.cluster.named(resource) is None:
            raise ConfigsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, f"There is no topic '{resource}'.")
        try:
            TopicConfig.of(wanted.values, state.creation_defaults.topic_defaults, state.like)
        except ConfigError as error:
            known = configs_of(state.like).known
            is_unknown = any(name not in known for name in wanted.values)
            senseless = dialect_of(state.like).senseless
            code = ErrorCode.INVALID_CONFIG if is_unknown else senseless
            raise ConfigsRefused(code, str(error)) from error
        _existing(state, resource)

    def store(self, state: BrokerState, resource: str, values: Mapping[str, str]) -> None:
        """Configure the topic."""
        config = TopicConfig.of(values, state.creation_defaults.topic_defaults, state.like)
        _existing(state, resource).configure(config)


def _check_name(name: str) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise ConfigsRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)


def _config_of(state: BrokerState, name: str) -> TopicConfig:
    if state.cluster.named(name) is None and not state.like.since(*_EXISTENCE_IS_LOOKED_AT):
        return TopicConfig.of({}, state.creation_defaults.topic_defaults, state.like)
    return _existing(state, name).config


def _existing(state: BrokerState, name: str) -> TopicState:
    topic = state.cluster.named(name)
    if topic is None:
        raise ConfigsRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic '{name}'.")
    return topic
