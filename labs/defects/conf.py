"""Defects of area CONF: descriptions of configs."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.edited_request import takes

FROM_TOPIC, FROM_DEFAULT = 1, 5
TOPIC, GROUP = 2, 32
# Of max.message.bytes.
DEFAULT_LIMITS = frozenset({"1048588", "1000012"})


@answers("CONF-001", r"not shown: \['flush\.ms'\]", "DescribeConfigs")
def a_config_is_forgotten(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs leaves out a topic's flush.ms."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        if result.resource_type == TOPIC:
            result.configs = [c for c in result.configs if c.name != "flush.ms"]


@answers("CONF-002", r"configs with the topic as source: .*'segment\.bytes'", "DescribeConfigs")
def what_is_inherited_is_the_topics(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs names the topic as the source of a segment size that the broker sets."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        for config in result.configs:
            if result.resource_type == TOPIC and config.name == "segment.bytes":
                config.config_source = FROM_TOPIC


@answers("CONF-003", r"a default that was given has source 5", "DescribeConfigs")
def a_given_default_is_a_default(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs reports a value that equals the default as the default, even if set."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        for config in result.configs:
            if config.name == "max.message.bytes" and config.value in DEFAULT_LIMITS:
                config.config_source = FROM_DEFAULT


@answers("CONF-004", r"the first synonym is", "DescribeConfigs")
def synonyms_begin_with_the_default(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs lists synonyms from the least to the most specific."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        for config in result.configs:
            config.synonyms = list(reversed(config.synonyms))


@takes("CONF-005", r"named were .*shown are", DescribeConfigsRequest)
def named_keys_are_not_looked_at(request: DescribeConfigsRequest) -> None:
    """DescribeConfigs returns all configs, whatever keys the request names."""
    for resource in request.resources:
        resource.configuration_keys = None


@answers("CONF-006", r"a secret is shown: '\*{8}'", "DescribeConfigs")
def secrets_are_stars(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs returns eight stars instead of null as the value of a secret."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        for config in result.configs:
            if config.is_sensitive:
                config.value = "*" * 8


@answers("CONF-007", r"configs of \(2, .*error is NONE \(0\), expected UNK", "DescribeConfigs")
def an_unknown_topic_has_no_configs(_: SeenRequest, message: Message) -> None:
    """DescribeConfigs returns no configs and no error for a topic that does not exist."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        if result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            result.error_code = ErrorCode.NONE


@answers("CONF-018", r"\(32, '.*'\) is not listed", "ListConfigResources")
def groups_are_not_listed(_: SeenRequest, message: Message) -> None:
    """ListConfigResources leaves out groups with a config."""
    assert isinstance(message, ListConfigResourcesResponse)
    message.config_resources = [
        each for each in message.config_resources if each.resource_type != GROUP
    ]


@answers("CONF-019", r"'replica\.lag\.time\.max\.ms': \{'10000'\}", "DescribeConfigs")
def the_lag_has_an_old_default(_: SeenRequest, message: Message) -> None:
    """The default of replica.lag.time.max.ms is 10 seconds, as before KIP-537."""
    assert isinstance(message, DescribeConfigsResponse)
    for result in message.results:
        for config in result.configs:
            for synonym in config.synonyms:
                if synonym.name == "replica.lag.time.max.ms" and synonym.source == FROM_DEFAULT:
                    synonym.value = "10000"


DEFECTS = [
    a_config_is_forgotten,
    what_is_inherited_is_the_topics,
    a_given_default_is_a_default,
    synonyms_begin_with_the_default,
    named_keys_are_not_looked_at,
    replace(secrets_are_stars, private=True),
    an_unknown_topic_has_no_configs,
    replace(groups_are_not_listed, private=True),
    the_lag_has_an_old_default,
]
