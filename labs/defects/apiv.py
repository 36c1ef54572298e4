"""Defects of area APIV."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from harness.codec.apis import API_VERSIONS_KEY, APIS, api_named
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupDescribeResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.conn import NOT_CLOSED
from labs.defects.defect import correlation_id, error_answer, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, misread

FIXED = struct.Struct(">hhi")
CONTROLLED_SHUTDOWN_KEY = 7
CORRELATION_ID_BYTES = 4


def _is_unserved_api_versions(seen: SeenRequest) -> bool:
    if len(seen.payload) < FIXED.size:
        return False
    key, version, _ = FIXED.unpack_from(seen.payload)
    highest = APIS[API_VERSIONS_KEY].valid_versions.highest
    return bool(key == API_VERSIONS_KEY and version > highest)


@answers("APIV-001", r"listed more than once: \[3\]", range(1))
def one_api_is_listed_twice(answer: ApiVersionsResponse) -> None:
    """ApiVersions v0 lists Metadata a second time."""
    key = api_named("Metadata").key
    answer.api_keys += [copy(one) for one in answer.api_keys if one.api_key == key]


class RangesStayAsTheyWere(FrameRule):
    """The broker returns to all connections the ApiVersions answer that the first one received."""

    def __init__(self) -> None:
        self._told: bytes | None = None

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not is_from(seen, "APIV-014"):
            return [payload]
        if self._told is None:
            self._told = payload[CORRELATION_ID_BYTES:]
        return [payload[:CORRELATION_ID_BYTES] + self._told]


class UnservedVersionGetsNoRange(FrameRule):
    """UNSUPPORTED_VERSION comes with an empty table of APIs, as before 2.4."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not _is_unserved_api_versions(seen):
            return [payload]
        answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
        return [encode_response(answer, 0, correlation_id(seen.payload))]


class NoSecondTry(FrameRule):
    """After UNSUPPORTED_VERSION the broker refuses version 0 on the connection as well."""

    def __init__(self) -> None:
        self.refused = False

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        before, self.refused = self.refused, _is_unserved_api_versions(seen)
        if not before or seen.ordinal != 1:
            return [payload]
        answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
        return [encode_response(answer, 0, correlation_id(seen.payload))]


class RefusalsListApis(FrameRule):
    """UNSUPPORTED_VERSION comes with the range of ApiVersions before its time."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not _is_unserved_api_versions(seen):
            return [payload]
        own = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS_KEY, min_version=0, max_version=1)
        answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[own])
        return [encode_response(answer, 0, correlation_id(seen.payload))]


@answers("APIV-004", r"'(a b| x|x )' got NONE", range(3, 100))
def blanks_in_names_are_accepted(request: ApiVersionsRequest, answer: ApiVersionsResponse) -> None:
    """A client software name with a blank is accepted."""
    if " " in request.client_software_name + request.client_software_version:
        answer.error_code = ErrorCode.NONE


@answers("APIV-004", r"'4\.4\.0-rc1\.SNAPSHOT': error is INVALID_REQUEST", range(3, 100))
def names_have_no_dots_and_dashes(request: ApiVersionsRequest, answer: ApiVersionsResponse) -> None:
    """A client software name or version with a dot and a dash is refused."""
    for text in (request.client_software_name, request.client_software_version):
        if "." in text and "-" in text:
            answer.error_code, answer.api_keys = ErrorCode.INVALID_REQUEST, []


class AdvertisedVersionIsNotServed(FrameRule):
    """The broker advertises DeleteTopics v1, and closes the connection that sends it."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        api = api_named("DeleteTopics")
        if seen.api is api and seen.version == 1 and is_from(seen, "APIV-005"):
            return misread(seen)
        return seen.payload


class UnlistedApiIsAnswered(FrameRule):
    """The broker answers ControlledShutdown, which it does not advertise."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if len(seen.payload) < FIXED.size:
            return []
        is_shutdown = FIXED.unpack_from(seen.payload)[0] == CONTROLLED_SHUTDOWN_KEY
        return [error_answer(seen)] if is_shutdown else []


@answers("APIV-009", r"v3 lists features whose minimum is 0", range(3, 4))
def minimum_0_is_listed_at_version_3(answer: ApiVersionsResponse) -> None:
    """ApiVersions v3 lists a feature with the minimum 0."""
    feature = ApiVersionsResponse.SupportedFeatureKey
    answer.supported_features.append(feature(name="group.version", min_version=0, max_version=1))


@answers("APIV-011", r"InitProducerId v6 is advertised, unreleased", range(3, 99))
def unreleased_version_is_advertised(answer: ApiVersionsResponse) -> None:
    """The table of ApiVersions contains InitProducerId's unreleased version."""
    api = api_named("InitProducerId")
    for one in answer.api_keys:
        if one.api_key == api.key:
            one.max_version = api.unstable_versions.highest


@answers("APIV-015", r"api keys that the throttled table lacks", range(1, 99))
def throttled_table_is_empty(answer: ApiVersionsResponse) -> None:
    """An ApiVersions answer that is throttled lists nothing."""
    if answer.throttle_time_ms > 0:
        answer.api_keys = []


@answers("APIV-015", r"throttled: \[", range(1, 99))
def throttled_table_has_lowest_versions(answer: ApiVersionsResponse) -> None:
    """An ApiVersions answer that is throttled lists only the lowest version of each API."""
    for one in answer.api_keys if answer.throttle_time_ms > 0 else ():
        one.max_version = one.min_version


@answers("APIV-016", r"node \d+: error is NONE", range(5, 99))
def every_node_of_the_cluster_will_do(
    request: ApiVersionsRequest, answer: ApiVersionsResponse
) -> None:
    """The broker compares the cluster id that a client expects, and ignores the node id."""
    if answer.error_code == ErrorCode.REBOOTSTRAP_REQUIRED:
        is_other = (request.cluster_id or "").endswith("-other")
        answer.error_code = answer.error_code if is_other else ErrorCode.NONE


class RefusedOnceMeansVersion0(FrameRule):
    """After a refused version the broker answers every ApiVersions in the format of version 0."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not is_from(seen, "APIV-017") or seen.api is None or seen.version == 0:
            return [payload]
        identity, message = decode_response(seen.api, seen.version, payload)
        return [encode_response(message, 0, identity)]


@answers("APIV-018", r"finalized at level 0: \['kraft\.version'\]", range(3, 99))
def features_that_are_off_are_finalized(answer: ApiVersionsResponse) -> None:
    """ApiVersions lists a feature that is off as finalized at level 0."""
    off = ApiVersionsResponse.FinalizedFeatureKey(name="kraft.version")
    answer.finalized_features = [*answer.finalized_features, off]


@answers("APIV-019", r"group\.version is finalized at level 1, and the answer lacks", range(3, 99))
def consumer_groups_are_finalized_and_not_served(answer: ApiVersionsResponse) -> None:
    """ApiVersions lists group.version as finalized, and not the API ConsumerGroupDescribe."""
    described = api_named("ConsumerGroupDescribe").key
    answer.api_keys = [one for one in answer.api_keys if one.api_key != described]
    feature = ApiVersionsResponse.FinalizedFeatureKey
    on = feature(name="group.version", min_version_level=1, max_version_level=1)
    others = [one for one in answer.finalized_features if one.name != on.name]
    answer.finalized_features = [*others, on]


@answers("APIV-019", r"group\.version is finalized: error is UNSUPPORTED_VERSION", range(99))
def described_groups_are_refused(answer: ConsumerGroupDescribeResponse) -> None:
    """ConsumerGroupDescribe gives UNSUPPORTED_VERSION though group.version is finalized."""
    for group in answer.groups:
        group.error_code = ErrorCode.UNSUPPORTED_VERSION


@answers("APIV-020", r"JoinGroup is advertised from \[2\]", range(99))
def join_group_begins_at_version_2(answer: ApiVersionsResponse) -> None:
    """ApiVersions lists JoinGroup from version 2 on, as Kafka 4.0.0 did."""
    for one in answer.api_keys:
        if one.api_key == api_named("JoinGroup").key:
            one.min_version = 2


DEFECTS = [
    join_group_begins_at_version_2,
    described_groups_are_refused,
    consumer_groups_are_finalized_and_not_served,
    features_that_are_off_are_finalized,
    rule("APIV-017", r"ApiVersions v\d+ answer: ", RefusedOnceMeansVersion0),
    names_have_no_dots_and_dashes,
    every_node_of_the_cluster_will_do,
    throttled_table_is_empty,
    throttled_table_has_lowest_versions,
    one_api_is_listed_twice,
    replace(rule("APIV-014", r"after the upgrade ranges", RangesStayAsTheyWere), private=True),
    rule("APIV-002", r"shown \[\]", UnservedVersionGetsNoRange),
    rule("APIV-021", r"in the refusal are \[\(18, 0, 1\)\], expected none", RefusalsListApis),
    rule("APIV-003", r"error is UNSUPPORTED_VERSION", NoSecondTry),
    blanks_in_names_are_accepted,
    rule("APIV-005", r"closed the connection", AdvertisedVersionIsNotServed),
    rule("APIV-006", NOT_CLOSED, UnlistedApiIsAnswered),
    minimum_0_is_listed_at_version_3,
    unreleased_version_is_advertised,
]
