"""Defects of area CONF: descriptions of configs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.nested_structs import structs_at

FROM_TOPIC, FROM_DEFAULT = 1, 5
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
# Of max.message.bytes.
DEFAULT_LIMITS = frozenset({"1048588", "1000012"})


@answers("CONF-001", r"not shown: \['flush\.ms'\]")
def a_config_is_forgotten(answer: DescribeConfigsResponse) -> None:
    """DescribeConfigs leaves out a topic's flush.ms."""
    for result in answer.results:
        if result.resource_type == TOPIC:
            result.configs = [c for c in result.configs if c.name != "flush.ms"]


@answers(
    "CONF-004", r"the first synonym is|has source 1, synonyms \[5, 1\]|a broker: \S+ has source"
)
def synonyms_begin_with_the_default(answer: DescribeConfigsResponse) -> None:
    """DescribeConfigs lists synonyms from the least to the most specific."""
    for result in answer.results:
        for config in result.configs:
            config.synonyms = list(reversed(config.synonyms))


@answers("CONF-004", r"synonyms are \[\], alone|the value of .*: \[\]")
def the_first_resource_has_synonyms(answer: DescribeConfigsResponse) -> None:
    """Of several resources, DescribeConfigs returns the synonyms of the first."""
    for config in (one for result in answer.results[1:] for one in result.configs):
        config.synonyms = []


@answers("CONF-004", r"a topic: \S+ has source 5, synonyms \[\d, 5\]")
def the_source_is_that_of_the_default(answer: DescribeConfigsResponse) -> None:
    """DescribeConfigs names the source of the default for what a topic has from its creation."""
    for result in answer.results:
        for config in result.configs if result.resource_type == TOPIC else ():
            if [each.source for each in config.synonyms] == [FROM_TOPIC, FROM_DEFAULT]:
                config.config_source = FROM_DEFAULT


@takes("CONF-005", r"named was no\.such\.config, shown are \d+ configs")
def no_known_key_is_no_key(request: DescribeConfigsRequest) -> None:
    """DescribeConfigs returns all configs if it knows none of the keys that the request names."""
    for resource in request.resources:
        if resource.configuration_keys == ["no.such.config"]:
            resource.configuration_keys = None


@answers("CONF-006", r"a secret is shown in synonyms")
def synonyms_show_secrets(answer: DescribeConfigsResponse) -> None:
    """DescribeConfigs returns the value of a secret among its synonyms."""
    for config in structs_at(answer, "results", "configs"):
        for synonym in config.synonyms if config.is_sensitive else ():
            synonym.value = "a-secret-of-this-test"


@takes("CONF-025", r"has (set\(\)|\{)")
def the_first_keys_are_for_all(request: DescribeConfigsRequest) -> None:
    """DescribeConfigs applies the keys of the first resource to all of the request."""
    for resource in request.resources:
        resource.configuration_keys = request.resources[0].configuration_keys


@answers("CONF-018", r"\(32, '.*'\) is not listed")
def groups_are_not_listed(answer: ListConfigResourcesResponse) -> None:
    """ListConfigResources leaves out groups with a config."""
    answer.config_resources = [
        each for each in answer.config_resources if each.resource_type != GROUP
    ]


@takes("CONF-035", r"types \(.*\): \[.*\] is missing")
def the_last_type_counts(request: ListConfigResourcesRequest) -> None:
    """ListConfigResources returns the resources of the last requested type alone."""
    request.resource_types = request.resource_types[-1:]


class RemovedConfigsStayListed(FrameRule):
    """ListConfigResources returns a subscription after its last config is removed."""

    kind = CLIENT_METRICS

    def __init__(self) -> None:
        self.listed: set[tuple[int, str]] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, ListConfigResourcesRequest):
            return [payload]
        return [edited(seen, payload, self._keep)]

    def _keep(self, seen: SeenRequest, answer: ListConfigResourcesResponse) -> None:
        assert isinstance(seen.message, ListConfigResourcesRequest)
        there = {(one.resource_type, one.resource_name) for one in answer.config_resources}
        asked = set(seen.message.resource_types)
        answer.config_resources += [
            ListConfigResourcesResponse.ConfigResource(resource_type=kind, resource_name=name)
            for kind, name in sorted(self.listed - there)
            if asked == {self.kind} == {kind}
        ]
        self.listed |= there


class RemovedGroupsStayListed(RemovedConfigsStayListed):
    """ListConfigResources returns a group after its last config is removed."""

    kind = GROUP


DEFECTS = [
    replace(the_last_type_counts, private=True),
    replace(
        rule("CONF-035", r"after DELETE the listed are ", RemovedConfigsStayListed), private=True
    ),
    replace(
        rule("CONF-036", r"after DELETE the listed are ", RemovedGroupsStayListed), private=True
    ),
    a_config_is_forgotten,
    changed_field("CONF-002", "what_is_inherited_is_the_topics",
        r"configs with the topic as source: .*'segment\.bytes'",
        "DescribeConfigs names the topic as the source of a segment size that the broker sets.",
        DescribeConfigsResponse, "results.configs.config_source",
        ANY, FROM_TOPIC,
        where={"results.resource_type": TOPIC, "results.configs.name": "segment.bytes"}),
    changed_field("CONF-003", "a_given_default_is_a_default",
        r"a default that was given has source 5",
        "DescribeConfigs reports a value that equals the default as the default, even if set.",
        DescribeConfigsResponse, "results.configs.config_source",
        ANY, FROM_DEFAULT,
        where={"results.configs.name": "max.message.bytes",
            "results.configs.value": DEFAULT_LIMITS}),
    synonyms_begin_with_the_default,
    the_first_resource_has_synonyms,
    the_source_is_that_of_the_default,
    no_known_key_is_no_key,
    changed_field("CONF-005", "named_keys_are_not_looked_at", r"named were .*shown are",
        "DescribeConfigs returns all configs, whatever keys the request names.",
        DescribeConfigsRequest, "resources.configuration_keys", ANY, None),
    replace(
        changed_field("CONF-006", "secrets_are_stars", r"a secret is shown: '\*{8}'",
            "DescribeConfigs returns eight stars instead of null as the value of a secret.",
            DescribeConfigsResponse, "results.configs.value",
            ANY, "*" * 8, where={"results.configs.is_sensitive": True}),
        private=True,
    ),
    replace(
        changed_field("CONF-006", "an_unknown_name_is_no_secret",
            r"plugin\.of\.a\.test is not shown",
            "DescribeConfigs does not mark a config that the broker does not know as sensitive.",
            DescribeConfigsResponse, "results.configs.is_sensitive",
            ANY, False, where={"results.configs.name": "plugin.of.a.test"}),
        private=True,
    ),
    the_first_keys_are_for_all,
    replace(synonyms_show_secrets, private=True),
    changed_field("CONF-024", "an_empty_list_names_no_config", r"an empty list gives 0 configs",
        "DescribeConfigs returns no config if the request has an empty list of keys.",
        DescribeConfigsRequest, "resources.configuration_keys", [], ["no.such.config"]),
    changed_field("CONF-007", "an_unknown_topic_has_no_configs",
        r"configs of a topic, .*error is NONE \(0\), expected UNK",
        "DescribeConfigs returns no configs and no error for a topic that does not exist.",
        DescribeConfigsResponse, "results.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE),
    changed_field("CONF-007", "a_name_without_a_number_is_this_broker",
        r"configs of a broker without a number, .*error is NONE",
        "DescribeConfigs answers a broker's name that is no number without an error.",
        DescribeConfigsResponse, "results.error_code",
        ErrorCode.INVALID_REQUEST, ErrorCode.NONE,
        where={"results.resource_name": "one", "results.resource_type": BROKER}),
    replace(groups_are_not_listed, private=True),
    changed_field("CONF-019", "the_lag_has_an_old_default",
        r"'replica\.lag\.time\.max\.ms': \{'10000'\}",
        "The default of replica.lag.time.max.ms is 10 seconds, as before KIP-537.",
        DescribeConfigsResponse, "results.configs.synonyms.value",
        ANY, "10000",
        where={"results.configs.synonyms.name": "replica.lag.time.max.ms",
            "results.configs.synonyms.source": FROM_DEFAULT}),
    changed_field("CONF-020", "configs_of_brokers_can_all_be_changed",
        r"wrong values of read_only: .*'num\.partitions': False",
        "DescribeConfigs marks no config of a broker as read-only.",
        DescribeConfigsResponse, "results.configs.read_only",
        True, False, where={"results.resource_type": BROKER}),
    replace(
        changed_field("CONF-021", "one_broker_has_the_source_of_all",
            r"log\.retention\.bytes is \[\('log\.retention\.bytes', '2000000000', 3\)",
            "DescribeConfigs returns a config of one broker with the source of all brokers.",
            DescribeConfigsResponse, "results.configs.config_source",
            2, 3, where={"results.configs.name": "log.retention.bytes"}),
        private=True,
    ),
    replace(
        changed_field("CONF-045", "hours_come_before_minutes",
            r"static times: \{.*'retention\.ms': '18000000'",
            "A static log.retention.hours counts beside log.retention.minutes.",
            DescribeConfigsResponse, "results.configs.value",
            "420000", "18000000", where={"results.configs.name": "retention.ms"}),
        private=True,
    ),
    changed_field("CONF-023", "lists_are_strings", r"'cleanup\.policy': 2\}",
        "DescribeConfigs v3 returns lists with the type of strings.",
        DescribeConfigsResponse, "results.configs.config_type", 7, 2),
    changed_field("CONF-023", "configs_of_brokers_have_no_documentation",
        r"configs without documentation: \['auto",
        "DescribeConfigs v3 returns documentation of topics' configs alone.",
        DescribeConfigsResponse, "results.configs.documentation",
        ANY, None, where={"results.resource_type": BROKER}),
]  # fmt: skip
