"""CONF: requests about several resources, of which the broker refuses some."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.config_admin import (
    BROKER,
    TOPIC,
    AlterOperation,
    Change,
    Resource,
    ShownSource,
    asked_broker,
    change_keys,
    describe,
    expect_values,
    replace_all,
)
from suites.protocol.support.expect import expect_error

AGE, SEGMENT, OF_BROKER = "retention.ms", "segment.ms", "log.retention.ms"
POLICY = "cleanup.policy"
UNKNOWN_BROKER: Resource = (BROKER, "77777")
SET = AlterOperation.SET


def _topic(broker: BrokerUnderTest, age: str) -> Resource:
    return TOPIC, broker.create_topic(configs={AGE: age, SEGMENT: "7000000"}).name


@judges("CONF-025")
@at_versions("DescribeConfigs")
def test_describe_configs_returns_own_keys_and_error_of_each_resource(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Topics with different keys and values, and one with all its keys; a broker, and between
    them one that does not exist."""
    first, second, whole = (_topic(broker, age) for age in ("1000000", "2000000", "3000000"))
    here = asked_broker(broker)
    wanted: dict[Resource, list[str] | None] = {
        first: [AGE],
        UNKNOWN_BROKER: [OF_BROKER],
        second: [SEGMENT, AGE],
        whole: None,
        here: [OF_BROKER],
    }
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=kind, resource_name=name, configuration_keys=keys
            )
            for (kind, name), keys in wanted.items()
        ]
    )
    with requirement("CONF-025") as check:
        results = broker.ask(request, api_version).results
        found = {(each.resource_type, each.resource_name): each for each in results}
        assert len(results) == len(wanted), f"{len(results)} results for {len(wanted)} resources"
        assert found.keys() == wanted.keys(), f"the results are for {list(found)}"
        for resource, keys in wanted.items():
            with check.subtest(f"{resource}"):
                is_unknown = resource == UNKNOWN_BROKER
                expected = ErrorCode.INVALID_REQUEST if is_unknown else ErrorCode.NONE
                expect_error(found[resource].error_code, expected, f"{resource}")
                shown = {config.name for config in found[resource].configs}
                if keys is None:
                    assert shown > {AGE, SEGMENT}, f"{resource}, all keys, has {shown}"
                else:
                    assert shown == (set() if is_unknown else {*keys}), f"{resource} has {shown}"
        ages = [
            {config.name: config.value for config in found[each].configs}.get(AGE)
            for each in (first, second)
        ]
        assert ages == ["1000000", "2000000"], f"{AGE} of the two topics is {ages}"


@judges("CONF-004")
@at_versions("DescribeConfigs", "1+")
def test_describe_configs_returns_synonyms_of_each_resource(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two topics with values of their own and one without, and a broker: in one request, each has
    the synonyms that it has alone."""
    plain: Resource = TOPIC, broker.create_topic().name
    one, other = (_topic(broker, age) for age in ("1000000", "2000000"))
    wanted = {one: AGE, plain: AGE, asked_broker(broker): OF_BROKER, other: AGE}
    with requirement("CONF-004") as check:
        alone = {
            resource: _synonyms(describe(broker, resource, api_version, [key], synonyms=True))
            for resource, key in wanted.items()
        }
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsRequest.DescribeConfigsResource(
                    resource_type=kind, resource_name=name, configuration_keys=[key]
                )
                for (kind, name), key in wanted.items()
            ],
            include_synonyms=True,
        )
        results = broker.ask(request, api_version).results
        found = {(each.resource_type, each.resource_name): _synonyms(each) for each in results}
        for resource, expected in alone.items():
            with check.subtest(f"{wanted[resource]} of {resource}"):
                told = f"synonyms are {found.get(resource)}, alone {expected}"
                assert found.get(resource) == expected, told
        for resource, age in ((one, "1000000"), (other, "2000000")):
            with check.subtest(f"the value of {resource}"):
                assert (AGE, age, ShownSource.TOPIC) in found[resource], f"{found[resource]}"


def _synonyms(
    result: DescribeConfigsResponse.DescribeConfigsResult,
) -> list[tuple[str, str | None, int]]:
    """Return name, value and source of each synonym of the only config."""
    config = only(result.configs, "config")
    return [(each.name, each.value, each.source) for each in config.synonyms]


@judges("CONF-026")
@at_versions("AlterConfigs")
def test_alter_configs_changes_valid_resources_beside_refused_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three topics, of which the second gets a bad value: it stays, the others are replaced."""
    topics = [_topic(broker, "1000000") for _ in range(3)]
    entry, config = AlterConfigsRequest.AlterConfigsResource, AlterConfigsRequest.AlterableConfig
    values = ["3000000", "never", "4000000"]
    request = AlterConfigsRequest(
        resources=[
            entry(resource_type=kind, resource_name=name, configs=[config(name=AGE, value=value)])
            for (kind, name), value in zip(topics, values, strict=True)
        ]
    )
    with requirement("CONF-026"):
        answers = {
            (each.resource_type, each.resource_name): each.error_code
            for each in broker.ask(request, api_version).responses
        }
        _expect_second_refused(broker, topics, answers, values)


@judges("CONF-026")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_changes_valid_resources_beside_refused_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for single keys."""
    topics = [_topic(broker, "1000000") for _ in range(3)]
    values = ["3000000", "never", "4000000"]
    with requirement("CONF-026"):
        changes = [
            (topic, [(AGE, SET, value)]) for topic, value in zip(topics, values, strict=True)
        ]
        answers = dict(change_keys(broker, api_version, *changes))
        _expect_second_refused(broker, topics, answers, values)


@judges("CONF-047")
@at_versions("AlterConfigs")
def test_alter_configs_of_unknown_topic_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without a config, with one, and only validated."""
    unknown = TOPIC, broker.unique_topic()
    with requirement("CONF-047") as check:
        for values, validate in (({}, False), ({AGE: "1000000"}, False), ({AGE: "1"}, True)):
            with check.subtest(f"{values}, validate_only {validate}"):
                code = replace_all(broker, unknown, values, api_version, validate_only=validate)
                expect_error(code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{values}")
        _expect_still_unknown(broker, unknown)


@judges("CONF-047")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_of_unknown_topic_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each operation, beside a topic that is changed, and only validated."""
    unknown, topic = (TOPIC, broker.unique_topic()), _topic(broker, "1000000")
    changes: list[Change] = [
        (AGE, SET, "1000000"),
        (AGE, AlterOperation.DELETE, None),
        (POLICY, AlterOperation.APPEND, "compact"),
        (POLICY, AlterOperation.SUBTRACT, "delete"),
    ]
    with requirement("CONF-047") as check:
        for wanted in changes:
            for validate in (True, False):
                with check.subtest(f"{wanted}, validate_only {validate}"):
                    both = ((topic, [(AGE, SET, "2000000")]), (unknown, [wanted]))
                    codes = change_keys(broker, api_version, *both, validate_only=validate)
                    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    expect_error(dict(codes)[unknown], error, f"{wanted}")
                    expect_error(dict(codes)[topic], ErrorCode.NONE, "the other topic")
        expect_values(broker, topic, {AGE: "2000000"}, "the other topic")
        _expect_still_unknown(broker, unknown)


def _expect_still_unknown(broker: BrokerUnderTest, unknown: Resource) -> None:
    code = describe(broker, unknown).error_code
    expect_error(code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "DescribeConfigs after the changes")


def _expect_second_refused(
    broker: BrokerUnderTest,
    topics: list[Resource],
    answers: dict[Resource, int],
    values: list[str],
) -> None:
    """Each topic must have its own result; the second keeps the value of its creation."""
    first, second, third = topics
    assert answers.keys() == {*topics}, f"the results are for {list(answers)}"
    for place, topic in (("first", first), ("third", third)):
        expect_error(answers[topic], ErrorCode.NONE, f"the {place} of three topics")
    assert answers[second] != ErrorCode.NONE, f"{AGE}={values[1]}: error is NONE (0)"
    expect_values(broker, third, {AGE: values[2]}, "the third of three topics")
    expect_values(broker, first, {AGE: values[0]}, "the first of three topics")
    expect_values(broker, second, {AGE: "1000000"}, "the refused topic")
