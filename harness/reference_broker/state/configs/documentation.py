"""The purpose of each config, in a sentence of ours: `documentation.tsv`, read on first use."""

from collections.abc import Mapping
from functools import cache

from harness.codec.package_text import package_text
from harness.reference_broker.state.config_definitions.topic_configs import DEFINITIONS
from harness.reference_broker.state.configs.of_groups import GROUP_CONFIGS

_OF_BROKERS = (
    "A config of brokers, see https://kafka.apache.org/documentation/#brokerconfigs_{name}"
)


def documentation_of(name: str) -> str:
    """Return the sentence; of a config that only brokers have, where Kafka describes it."""
    return _sentences().get(name) or _OF_BROKERS.format(name=name)


@cache
def _sentences() -> Mapping[str, str]:
    text = package_text("harness.reference_broker.state.configs", "documentation.tsv")
    lines = [line.split("\t") for line in text.splitlines()]
    sentences = dict(lines)
    inherited = [("topics", definition) for definition in DEFINITIONS]
    inherited += [("groups", config.definition) for config in GROUP_CONFIGS.values()]
    for heirs, definition in inherited:
        if definition.broker_setting is not None:
            sentence = f"For {heirs} without their own: {sentences[definition.name]}"
            sentences.setdefault(definition.broker_setting, sentence)
    return sentences
