"""APIV: the features in ApiVersions (KIP-584), and what they promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from harness.codec.versions import NO_VERSIONS, VersionRange
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.config_admin import asked_broker, describe
from suites.protocol.support.expect import expect_error

PROTOCOLS = "group.coordinator.rebalance.protocols"
SERVED_FOR = {
    ("group.version", 1): {
        "FindCoordinator": "0+",
        "ConsumerGroupHeartbeat": "0+",
        "ConsumerGroupDescribe": "0+",
        "OffsetCommit": "9+",
        "OffsetFetch": "9+",
    },
    ("share.version", 1): {
        "FindCoordinator": "0+",
        "ShareGroupHeartbeat": "1+",
        "ShareGroupDescribe": "1+",
        "ShareFetch": "1+",
        "ShareAcknowledge": "1+",
    },
    ("streams.version", 1): {
        "FindCoordinator": "0+",
        "StreamsGroupHeartbeat": "0+",
        "StreamsGroupDescribe": "0+",
        "OffsetCommit": "9+",
        "OffsetFetch": "9+",
    },
    ("transaction.version", 2): {
        "FindCoordinator": "1+",
        "InitProducerId": "0+",
        "Produce": "12+",
        "EndTxn": "5+",
        "TxnOffsetCommit": "5+",
    },
}
"""The APIs and versions that clients use where a feature is finalized at this level or above."""


def _answer(broker: BrokerUnderTest, version: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")
    return broker.ask(request, version)


@judges("APIV-018")
@at_versions("ApiVersions", "3", "4+")
def test_api_versions_lists_no_feature_at_level_0_as_finalized(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Level 0 means that a feature is off; a release supports some that are off at first."""
    with requirement("APIV-018"):
        answer = _answer(broker, api_version)
        off = [each.name for each in answer.finalized_features if each.max_version_level < 1]
        assert not off, f"finalized at level 0: {off}"


@judges("APIV-019")
@at_versions("ApiVersions", "3", "4+")
def test_apis_of_finalized_features_are_advertised(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each API has a version that clients of the feature use."""
    with requirement("APIV-019") as check:
        answer = _answer(broker, api_version)
        levels = {each.name: each.max_version_level for each in answer.finalized_features}
        listed = {
            one.api_key: VersionRange(one.min_version, one.max_version) for one in answer.api_keys
        }
        for (feature, least), needed in SERVED_FOR.items():
            if levels.get(feature, 0) < least:
                continue
            with check.subtest(feature):
                missing = [
                    f"{api} {versions}"
                    for api, versions in needed.items()
                    if not listed.get(api_named(api).key, NO_VERSIONS)
                    & VersionRange.parse(versions)
                ]
                assert not missing, (
                    f"{feature} is finalized at level {levels[feature]}, and the answer lacks "
                    f"{', '.join(missing)}"
                )


def _of(listed: Mapping[int, VersionRange], api: str) -> VersionRange:
    return listed.get(api_named(api).key, NO_VERSIONS)


@judges("APIV-019")
@at_versions("ConsumerGroupDescribe")
def test_consumer_groups_are_described_where_their_feature_is_finalized(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without the feature the request is refused, though the API is advertised."""

    def describe_one(group_id: str) -> int:
        request = ConsumerGroupDescribeRequest(group_ids=[group_id])
        return only(broker.ask(request, api_version).groups, "group").error_code

    _judge(broker, "group.version", "consumer", describe_one)


@judges("APIV-019")
@at_versions("ShareGroupDescribe")
def test_share_groups_are_described_where_their_feature_is_finalized(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without the feature the request is refused, though the API is advertised."""

    def describe_one(group_id: str) -> int:
        request = ShareGroupDescribeRequest(group_ids=[group_id])
        return only(broker.ask(request, api_version).groups, "group").error_code

    _judge(broker, "share.version", None, describe_one)


@judges("APIV-019")
@at_versions("StreamsGroupDescribe")
def test_streams_groups_are_described_where_their_feature_is_finalized(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without the feature the request is refused, though the API is advertised."""

    def describe_one(group_id: str) -> int:
        request = StreamsGroupDescribeRequest(group_ids=[group_id])
        return only(broker.ask(request, api_version).groups, "group").error_code

    _judge(broker, "streams.version", "streams", describe_one)


def _judge(
    broker: BrokerUnderTest, feature: str, protocol: str | None, describe_one: Callable[[str], int]
) -> None:
    """``protocol``: its name in a broker config that can switch the feature off as well."""
    is_on = _is_configured(broker, protocol)
    refused = ErrorCode.UNSUPPORTED_VERSION
    with requirement("APIV-019"):
        answer = _answer(broker, broker.version("ApiVersions", "3+"))
        levels = {each.name: each.max_version_level for each in answer.finalized_features}
        code = describe_one(broker.unique_group())
        if is_on and levels.get(feature, 0) > 0:
            assert code != refused, f"{feature} is finalized: error is UNSUPPORTED_VERSION"
        else:
            expect_error(code, refused, f"{feature} is not finalized, or {protocol} is off")


def _is_configured(broker: BrokerUnderTest, protocol: str | None) -> bool:
    """True where the config that names the protocols of groups is absent, or names this one."""
    if protocol is None:
        return True
    found = describe(broker, asked_broker(broker), keys=[PROTOCOLS])
    if found.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"{PROTOCOLS} is not shown: error {found.error_code}")
    values = [(one.value or "").split(",") for one in found.configs]
    return all(protocol in value for value in values)
