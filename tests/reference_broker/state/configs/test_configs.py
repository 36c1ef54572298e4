"""Rules of configs that the suites do not reach, as observed on a 4.4.0 broker."""

from collections.abc import Sequence

import pytest

from harness.base.ids import BrokerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from harness.codec.structs import Message
from harness.reference_broker.emulated_release import LIKE_NONE
from harness.reference_broker.handlers.api_32_describe_configs import handle as describe
from harness.reference_broker.handlers.api_44_incremental_alter_configs import handle as change
from harness.reference_broker.handlers.outcome import Advertised, Answer, RequestContext
from harness.reference_broker.handlers.table import advertised_like
from harness.reference_broker.node import Node
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.config_definitions.broker_table import broker_configs
from harness.reference_broker.state.config_definitions.topic_configs import (
    TOPIC_CONFIGS,
    TopicConfig,
)
from harness.reference_broker.state.configs.documentation import documentation_of
from harness.reference_broker.state.configs.of_client_metrics import CLIENT_METRICS_CONFIGS
from harness.reference_broker.state.configs.of_groups import GROUP_CONFIGS
from tests.reference_broker.made_cluster import CHANCE

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND = 0, 1, 2
Change = tuple[str, int, str | None]


class Broker:
    """A broker without sockets, with one topic `t`."""

    def __init__(self, **settings: str) -> None:
        named = {name.replace("__", "."): value for name, value in settings.items()}
        node = Node(BrokerSettings.of(named), "127.0.0.1", 9092, CHANCE)
        self.state = node.state
        inherited = self.state.creation_defaults.topic_defaults
        config = TopicConfig.of({}, inherited)
        self.state.cluster.create("t", config, 1, (BrokerId(1),), CHANCE)

    def _context(self, version: int) -> RequestContext:
        advertised = Advertised(advertised_like(LIKE_NONE))
        return RequestContext(
            version, None, 0, self.state, advertised, lambda: TimeMs(0), CHANCE, []
        )

    def change(self, *asked: tuple[int, str, Sequence[Change]]) -> list[ErrorCode]:
        """Change configs and return the error of each resource."""
        key = IncrementalAlterConfigsRequest.AlterableConfig
        request = IncrementalAlterConfigsRequest(
            resources=[
                IncrementalAlterConfigsRequest.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[key(name=k, config_operation=o, value=v) for k, o, v in changes],
                )
                for kind, name, changes in asked
            ]
        )
        answer: Message = change(request, self._context(1)).message
        assert isinstance(answer, IncrementalAlterConfigsResponse)
        return [ErrorCode(response.error_code) for response in answer.responses]

    def describe(
        self, kind: int, name: str, key: str
    ) -> tuple[str | None, list[tuple[str, str | None, int]]]:
        """The value of one config and its synonyms."""
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsRequest.DescribeConfigsResource(
                    resource_type=kind, resource_name=name, configuration_keys=[key]
                )
            ],
            include_synonyms=True,
        )
        answer = describe(request, self._context(4))
        assert isinstance(answer, Answer)
        assert isinstance(answer.message, DescribeConfigsResponse)
        (config,) = answer.message.results[0].configs
        return config.value, [(s.name, s.value, s.source) for s in config.synonyms]


@pytest.mark.parametrize(
    ("kind", "resource", "wanted", "error"),
    [
        (TOPIC, "nope", ("no.such.config", SET, "1"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "nope", ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", ("retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST),
        (TOPIC, "a/b", ("retention.ms", SET, "1"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "t", ("no.such.config", DELETE, None), ErrorCode.NONE),
        (TOPIC, "t", ("retention.ms", SET, None), ErrorCode.INVALID_REQUEST),
        (BROKER, "", ("listeners", SET, "PLAINTEXT://:1"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("ssl.keystore.location", SET, "/x"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("log.retention.hours", SET, "5"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("max.connections", SET, "-1"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("no.such.config", SET, "1"), ErrorCode.NONE),
        (BROKER, "1", ("no.such.config", APPEND, "1"), ErrorCode.INVALID_CONFIG),
        (BROKER, "1", ("min.insync.replicas", SET, "2"), ErrorCode.INVALID_CONFIG),
        (BROKER, "", ("min.insync.replicas", DELETE, None), ErrorCode.INVALID_CONFIG),
        (BROKER, "2", ("log.retention.ms", SET, "5"), ErrorCode.INVALID_REQUEST),
        (LOGGER, "1", ("root", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (METRICS, "m", ("interval.ms", SET, "99"), ErrorCode.INVALID_REQUEST),
        (METRICS, "m", ("match", SET, "client_id=["), ErrorCode.INVALID_CONFIG),
        (METRICS, "m", ("metrics", APPEND, "a"), ErrorCode.INVALID_CONFIG),
        (GROUP, "g", ("consumer.session.timeout.ms", SET, "1"), ErrorCode.INVALID_CONFIG),
        (GROUP, "g", ("streams.num.standby.replicas", SET, "9"), ErrorCode.INVALID_CONFIG),
        (99, "t", ("retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_config_change_returns_expected_error_of_resource(
    kind: int, resource: str, wanted: Change, error: ErrorCode
) -> None:
    assert Broker().change((kind, resource, [wanted])) == [error]


def test_unknown_config_operation_fails_all_controller_resources_of_request() -> None:
    broker = Broker()
    errors = broker.change(
        (TOPIC, "t", [("retention.ms", 9, "1")]),
        (TOPIC, "nope", []),
        (BROKER, "2", []),
    )
    failed = ErrorCode.UNKNOWN_SERVER_ERROR
    assert errors == [failed, failed, ErrorCode.INVALID_REQUEST]
    assert broker.change((BROKER, "1", [("x", 9, "1")])) == [ErrorCode.INVALID_REQUEST]


def test_retention_ms_falls_back_to_configs_of_longer_units() -> None:
    broker = Broker()
    assert broker.describe(TOPIC, "t", "retention.ms") == ("604800000", [])
    broker.change((BROKER, "", [("log.retention.ms", SET, "-5")]))
    value, synonyms = broker.describe(TOPIC, "t", "retention.ms")
    assert value == "-1"  # any negative time of a broker is without limit
    assert synonyms == [("log.retention.ms", "-5", 3), ("log.retention.hours", "168", 5)]


def test_static_min_insync_replicas_is_cluster_default_from_start() -> None:
    broker = Broker(min__insync__replicas="2")
    value, synonyms = broker.describe(TOPIC, "t", "min.insync.replicas")
    assert value == "2"
    assert [source for _, _, source in synonyms] == [3, 4, 5]


def test_described_config_value_is_normalized_by_its_type() -> None:
    broker = Broker()
    changes: list[Change] = [
        ("retention.ms", SET, " 5 "),
        ("preallocate", SET, "FALSE"),
        ("cleanup.policy", SET, "compact,compact"),
        ("min.cleanable.dirty.ratio", SET, "1"),
    ]
    assert broker.change((TOPIC, "t", changes)) == [ErrorCode.NONE]
    shown = [broker.describe(TOPIC, "t", name)[0] for name, _, _ in changes]
    assert shown == ["5", "false", "compact", "1.0"]


def test_dynamic_broker_config_applies_to_existing_topics() -> None:
    broker = Broker()
    topic = broker.state.cluster.named("t")
    assert topic is not None
    broker.change((BROKER, "1", [("message.max.bytes", SET, "2000")]))
    assert topic.partitions[0].config.number("max.message.bytes") == 2000
    broker.change((TOPIC, "t", [("max.message.bytes", SET, "3000")]))
    assert topic.partitions[0].config.number("max.message.bytes") == 3000


def test_broker_config_defaults_are_normalized_legal_values() -> None:
    for name, config in broker_configs().items():
        if config.default is not None and config.definition.type != "list":
            assert config.definition.shown(config.default) == config.default, name


def test_topic_group_and_client_metrics_configs_have_sentences_of_their_own() -> None:
    names = [*TOPIC_CONFIGS, *GROUP_CONFIGS, *CLIENT_METRICS_CONFIGS]
    assert [name for name in names if "brokerconfigs" in documentation_of(name)] == []


def test_broker_config_is_documented_by_heirs_or_by_place_of_its_description() -> None:
    assert documentation_of("log.retention.ms").startswith("For topics without their own: ")
    assert documentation_of("num.io.threads").endswith("#brokerconfigs_num.io.threads")
