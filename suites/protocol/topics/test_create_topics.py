"""TOPIC: what CreateTopics makes, what it refuses, and what it answers."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse, MetadataRequest
from harness.conformance.checks import Check, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    OF_TIERED_STORAGE,
    TOPIC,
    Config,
    ShownSource,
    describe,
    prepare_key,
    shows_tiered_storage,
)
from suites.protocol.support.topic_admin import (
    BROKERS_DEFAULT,
    ask_to_create,
    creatable,
    described,
    expect_not_created,
)

OF_ALL_BROKERS = {"log.retention.bytes": "3500000000", "log.roll.ms": "6000000"}
CREATE_TOPICS = api_named("CreateTopics")
FIRST_VALIDATE_ONLY = 1
MOST_REPLICAS = 32_767  # what the field can hold
_Config = CreateTopicsRequest.CreatableTopicConfig
BAD_CONFIGS = (
    {"not.a.property": "1"},
    {"min.insync.replicas": "abc"},
    {"min.insync.replicas": "0"},
    {"cleanup.policy": "not-a-policy"},
    {"retention.ms": "1000000", "min.insync.replicas": "0"},
    {"min.compaction.lag.ms": "1001", "max.compaction.lag.ms": "1000"},
)


def _broker_ids(broker: BrokerUnderTest) -> list[int]:
    return [node.node_id for node in broker.ask(MetadataRequest(topics=[])).brokers]


def _expect_nothing_created(broker: BrokerUnderTest, check: Check, *refused: str) -> None:
    with check.subtest("nothing is created"):
        expect_not_created(broker, *refused)


@judges("TOPIC-006")
@at_versions("CreateTopics")
def test_create_topics_with_existing_name_returns_topic_already_exists(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The second creation of a name is refused, also one that is only validated; the topic keeps
    its partitions and its id."""
    name = broker.create_topic(partitions=2).name
    before = described(broker, name, partitions=2)
    with requirement("TOPIC-006") as check:
        for validate_only in (False, *([True] if api_version >= FIRST_VALIDATE_ONLY else [])):
            with check.subtest(f"validate_only is {validate_only}"):
                wanted = creatable(name, 3)
                again = ask_to_create(broker, api_version, wanted, validate_only=validate_only)
                again.expect(name, ErrorCode.TOPIC_ALREADY_EXISTS)
        with check.subtest("the topic stays as it was"):
            broker.create_topic()  # Metadata that shows it shows all changes before it.
            after = described(broker, name, partitions=2)
            kept = (after.topic_id, len(after.partitions))
            expected = (before.topic_id, 2)
            assert kept == expected, f"id and partitions are {kept}, they were {expected}"


@judges("TOPIC-007")
@at_versions("CreateTopics")
def test_create_topics_with_invalid_num_partitions_returns_invalid_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Numbers of partitions that are neither above 0 nor -1."""
    names = {count: broker.unique_topic() for count in (0, -2)}
    with requirement("TOPIC-007") as check:
        topics = [creatable(name, partitions=count) for count, name in names.items()]
        results = ask_to_create(broker, api_version, *topics)
        for count, name in names.items():
            with check.subtest(f"{count} partitions"):
                results.expect(name, ErrorCode.INVALID_PARTITIONS, f"{count} partitions")
        _expect_nothing_created(broker, check, *names.values())


@judges("TOPIC-008")
@at_versions("CreateTopics")
def test_create_topics_with_bad_factor_returns_invalid_replication_factor(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Replication factors that are neither above 0 nor -1, and ones above the brokers there are."""
    too_many = len(_broker_ids(broker)) + 1
    names = {factor: broker.unique_topic() for factor in (0, -2, too_many, MOST_REPLICAS)}
    with requirement("TOPIC-008") as check:
        topics = [creatable(name, replication_factor=factor) for factor, name in names.items()]
        results = ask_to_create(broker, api_version, *topics)
        for factor, name in names.items():
            with check.subtest(f"replication factor {factor}"):
                error = ErrorCode.INVALID_REPLICATION_FACTOR
                results.expect(name, error, f"replication factor {factor}")
        _expect_nothing_created(broker, check, *names.values())


@judges("TOPIC-009")
@at_versions("CreateTopics", "4+")
def test_create_topics_with_minus_1_uses_consistent_broker_defaults(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """-1 for one of them or both; what is given counts, and the default is one number."""
    both, factor_only, count_only = (broker.unique_topic() for _ in range(3))
    with requirement("TOPIC-009"):
        results = ask_to_create(
            broker,
            api_version,
            creatable(both, BROKERS_DEFAULT, BROKERS_DEFAULT),
            creatable(factor_only, 2, BROKERS_DEFAULT),
            creatable(count_only, BROKERS_DEFAULT, 1),
        )
        for name in (both, factor_only, count_only):
            results.expect(name, ErrorCode.NONE)
        shape = {name: _shape(broker, name) for name in (both, factor_only, count_only)}
        told = f"(partitions, replicas): {shape[both]} with both left open"
        assert shape[factor_only] == (2, shape[both][1]), f"{told}, {shape[factor_only]} with 2, -1"
        assert shape[count_only] == (shape[both][0], 1), f"{told}, {shape[count_only]} with -1, 1"


def _shape(broker: BrokerUnderTest, name: str) -> tuple[int, int]:
    """Numbers of partitions and of the first one's replicas."""
    partitions = described(broker, name).partitions
    return len(partitions), len(partitions[0].replica_nodes)


@judges("TOPIC-009")
@needs_broker(Use.OWN, {"num.partitions": "3"})
def test_create_topics_with_minus_1_partitions_uses_num_partitions(broker: BrokerUnderTest) -> None:
    """num.partitions is 3."""
    version = broker.version("CreateTopics", "4+")
    name = broker.unique_topic()
    with requirement("TOPIC-009", api_key=CREATE_TOPICS.key, api_version=version):
        topic = creatable(name, BROKERS_DEFAULT, BROKERS_DEFAULT)
        ask_to_create(broker, version, topic).expect(name, ErrorCode.NONE)
        count, _ = _shape(broker, name)
        assert count == 3, f"{count} partitions, num.partitions is 3"


@judges("TOPIC-011")
@at_versions("CreateTopics")
def test_create_topics_with_assignment_and_counts_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Beside a manual assignment, one of the numbers is given too, though it fits."""
    assignments = [[_broker_ids(broker)[0]]]
    with_count, with_factor = broker.unique_topic(), broker.unique_topic()
    with requirement("TOPIC-011"):
        results = ask_to_create(
            broker,
            api_version,
            creatable(with_count, 1, BROKERS_DEFAULT, assignments=assignments),
            creatable(with_factor, BROKERS_DEFAULT, 1, assignments=assignments),
        )
        results.expect(with_count, ErrorCode.INVALID_REQUEST, "with a number of partitions")
        results.expect(with_factor, ErrorCode.INVALID_REQUEST, "with a replication factor")
        expect_not_created(broker, with_count, with_factor)


@judges("TOPIC-013")
@at_versions("CreateTopics")
def test_create_topics_with_invalid_config_returns_invalid_config(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown name, a value that is no number, one out of range (also behind a good one), one
    that is no choice, and two that contradict each other."""
    names = [broker.unique_topic() for _ in BAD_CONFIGS]
    with requirement("TOPIC-013") as check:
        wanted = zip(names, BAD_CONFIGS, strict=True)
        topics = [creatable(name, configs={**configs}) for name, configs in wanted]
        results = ask_to_create(broker, api_version, *topics)
        for name, configs in zip(names, BAD_CONFIGS, strict=True):
            where = ", ".join(f"{key}={value}" for key, value in configs.items())
            with check.subtest(where):
                results.expect(name, ErrorCode.INVALID_CONFIG, where)
        _expect_nothing_created(broker, check, *names)


@judges("TOPIC-014")
@at_versions("CreateTopics")
def test_create_topics_with_null_config_value_returns_invalid_config(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Null does not stand for the default; alone, and before and behind another value."""
    null: tuple[str, None] = ("retention.ms", None)
    good, valued = ("segment.ms", "2000000"), ("retention.ms", "2000000")
    given: list[list[tuple[str, str | None]]] = [
        [null], [null, good], [good, null], [null, valued], [valued, null],
    ]  # fmt: skip
    names = [broker.unique_topic() for _ in given]
    topics = [creatable(name) for name in names]
    for topic, each in zip(topics, given, strict=True):
        topic.configs = [_Config(name=name, value=value) for name, value in each]
    with requirement("TOPIC-014") as check:
        results = ask_to_create(broker, api_version, *topics)
        for name, each in zip(names, given, strict=True):
            with check.subtest(f"{each}"):
                results.expect(name, ErrorCode.INVALID_CONFIG, f"{each}")
        _expect_nothing_created(broker, check, *names)


@judges("TOPIC-017")
@at_versions("CreateTopics")
def test_create_topics_creates_valid_topics_beside_refused_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A refused topic stands between two that are created."""
    first, refused, last = (broker.unique_topic() for _ in range(3))
    with requirement("TOPIC-017"):
        results = ask_to_create(
            broker, api_version, creatable(first), creatable(refused, 0), creatable(last)
        )
        results.expect(first, ErrorCode.NONE, "the topic before")
        results.expect(last, ErrorCode.NONE, "the topic behind")
        results.expect(refused, ErrorCode.INVALID_PARTITIONS, "the topic without partitions")
        described(broker, first)
        described(broker, last)


@judges("TOPIC-019")
@at_versions("CreateTopics", "1+")
def test_create_topics_with_validate_only_creates_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Topics that could be created, by a number of partitions and by an assignment, and one that
    could not."""
    good, assigned, bad = (broker.unique_topic() for _ in range(3))
    broker.delete_later(good, assigned, bad)  # a broker might create them all the same
    here = [_broker_ids(broker)[:1]]
    with requirement("TOPIC-019"):
        chosen = creatable(assigned, BROKERS_DEFAULT, BROKERS_DEFAULT, assignments=here)
        topics = creatable(good), chosen, creatable(bad, partitions=0)
        results = ask_to_create(broker, api_version, *topics, validate_only=True)
        results.expect(good, ErrorCode.NONE, "the good topic")
        results.expect(assigned, ErrorCode.NONE, "the topic with an assignment")
        results.expect(bad, ErrorCode.INVALID_PARTITIONS, "the topic without partitions")
        expect_not_created(broker, good, assigned, bad)


@judges("TOPIC-019")
@at_versions("CreateTopics", "5+")
def test_create_topics_with_validate_only_answers_as_the_creation_does(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partitions, replication factor and configs: by the defaults, by numbers, by an assignment.
    The creation of the same topics follows, and only the ids differ."""
    here = [_broker_ids(broker)[:1]] * 3
    wanted = {
        "by default": creatable(broker.unique_topic(), BROKERS_DEFAULT, BROKERS_DEFAULT),
        "by numbers": creatable(broker.unique_topic(), 2, configs={"retention.ms": "86400000"}),
        "by assignment": creatable(
            broker.unique_topic(), BROKERS_DEFAULT, BROKERS_DEFAULT, assignments=here
        ),
    }
    with requirement("TOPIC-019") as check:
        validated = ask_to_create(broker, api_version, *wanted.values(), validate_only=True)
        created = ask_to_create(broker, api_version, *wanted.values())
        for how, topic in wanted.items():
            with check.subtest(how):
                done = _shown(created.expect(topic.name, ErrorCode.NONE, "the creation"))
                told = _shown(validated.expect(topic.name, ErrorCode.NONE, "the validation"))
                assert told == done, f"validate_only answers {told}, the creation {done}"


@judges("TOPIC-021")
@at_versions("CreateTopics", "5+")
def test_create_topics_returns_partitions_replication_factor_and_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partitions, replication factor, and configs with one that was given; beside it a topic with
    more partitions and no config."""
    name, plain = broker.unique_topic(), broker.unique_topic()
    with requirement("TOPIC-021"):
        topics = creatable(name, 2, configs={"retention.ms": "86400000"}), creatable(plain, 3)
        results = ask_to_create(broker, api_version, *topics)
        beside = results.expect(plain, ErrorCode.NONE)
        assert beside.num_partitions == 3, f"of 3 partitions {beside.num_partitions} are returned"
        result = results.expect(name, ErrorCode.NONE)
        count, factor = _shape(broker, name)
        answered = result.num_partitions, result.replication_factor
        assert answered == (count, factor), f"answered {answered}, Metadata {count, factor}"
        configs = {config.name: config.value for config in _configs(result)}
        assert configs.get("retention.ms") == "86400000", f"configs are {configs}"
        assert len(configs) > 1, "only the configs that were given are returned"
        shown = broker.eventually(
            lambda: describe(broker, (TOPIC, name)).configs, f"configs of {name} are shown"
        )
        is_released = shows_tiered_storage(config.name for config in shown)
        left_out = () if is_released else OF_TIERED_STORAGE
        returned = {_told(c) for c in _configs(result) if c.name not in left_out}
        wrong = returned ^ {_told(c) for c in shown}
        assert not wrong, f"other configs than in DescribeConfigs: {sorted(wrong, key=str)}"


@judges("TOPIC-021")
@needs_broker(Use.OWN)
@at_versions("CreateTopics", "5+")
def test_create_topics_returns_source_of_config_of_all_brokers(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A config that all brokers have, one that the topic has instead, and one by default."""
    for name, value in OF_ALL_BROKERS.items():
        prepare_key(broker, (BROKER, ""), name, value)
    name = broker.unique_topic()
    expected = {
        "retention.bytes": ("3500000000", ShownSource.ALL_BROKERS),
        "segment.ms": ("7000000", ShownSource.TOPIC),
        "flush.ms": (str(2**63 - 1), ShownSource.DEFAULT),
    }
    with requirement("TOPIC-021"):
        topic = creatable(name, configs={"segment.ms": "7000000"})
        result = ask_to_create(broker, api_version, topic).expect(name, ErrorCode.NONE)
        told = {c.name: (c.value, c.config_source) for c in _configs(result)}
        found = {key: told.get(key) for key in expected}
        assert found == expected, f"returned are {found}, expected {expected}"


def _shown(
    result: CreateTopicsResponse.CreatableTopicResult,
) -> tuple[int, int, list[tuple[str, str | None, int, bool, bool]]]:
    """Return partitions, replication factor and configs of a result."""
    configs = sorted((_told(config) for config in _configs(result)), key=str)
    return result.num_partitions, result.replication_factor, configs


def _configs(
    result: CreateTopicsResponse.CreatableTopicResult,
) -> list[CreateTopicsResponse.CreatableTopicConfigs]:
    assert result.configs is not None, "the configs are null"
    return result.configs


def _told(
    config: CreateTopicsResponse.CreatableTopicConfigs | Config,
) -> tuple[str, str | None, int, bool, bool]:
    """Return name, value, source, and the two flags."""
    flags = bool(config.read_only), bool(config.is_sensitive)
    return config.name, config.value, config.config_source, *flags


@judges("TOPIC-021")
@at_versions("CreateTopics", "7+")
def test_create_topics_returns_same_topic_id_as_metadata(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same id as Metadata shows."""
    name = broker.unique_topic()
    with requirement("TOPIC-021"):
        result = ask_to_create(broker, api_version, creatable(name)).expect(name, ErrorCode.NONE)
        assert result.topic_id != ZERO_UUID, "the answer has no topic id"
        shown = described(broker, name).topic_id
        assert result.topic_id == shown, f"answered {result.topic_id}, Metadata shows {shown}"
