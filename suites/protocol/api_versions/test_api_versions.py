"""APIV: the versions and features that a broker advertises, and their truth."""

from __future__ import annotations

import struct
from collections import Counter

import pytest

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec import decode
from harness.codec.apis import API_VERSIONS_KEY, APIS, api_named
from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request
from harness.codec.messages import (
    AlterClientQuotasRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    ProduceRequest,
)
from harness.codec.versions import VersionRange
from harness.conformance.checks import NotApplicable, NotSupported, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.answers import correlation_id_of, expect_answers
from suites.protocol.support.expect import expect_error
from suites.protocol.support.harmless import each_api, harmless_request, served_versions

HIGHEST_KEY_PROBED = 127
# GetTelemetrySubscriptions and PushTelemetry are served by a Kafka that does not advertise them:
# they are listed only where a metrics reporter can take what clients push (KIP-714).
SERVED_UNLISTED = (71, 72)
FIRST_METADATA_VERSION_OF_4_0 = 22  # 4.0-IV0, class MetadataVersion
LOWEST_METADATA_VERSION_IN_4_0 = 7  # 3.3-IV3: 4.0 reads nothing older
METADATA_VERSION = "metadata.version"

# The lowest version since 4.0 by api key (KIP-896); where two are right, 4.1 put one back.
KIP_896_LOWEST = {
    0: {0, 3},  # Produce: 0 is shown for old clients' sake, KAFKA-18659
    1: {4},  # Fetch
    2: {1},  # ListOffsets
    3: {0},  # Metadata
    8: {2},  # OffsetCommit
    9: {1},  # OffsetFetch
    10: {0},  # FindCoordinator
    11: {0, 2},  # JoinGroup
    19: {2},  # CreateTopics
    20: {1},  # DeleteTopics
    23: {2},  # OffsetForLeaderEpoch
    27: {1},  # WriteTxnMarkers
    29: {1},  # DescribeAcls
    30: {1},  # CreateAcls
    31: {1},  # DeleteAcls
    32: {1},  # DescribeConfigs
    34: {1},  # AlterReplicaLogDirs
    35: {1},  # DescribeLogDirs
    38: {1},  # CreateDelegationToken
    39: {1},  # RenewDelegationToken
    40: {1},  # ExpireDelegationToken
    41: {1},  # DescribeDelegationToken
}

TINY_PERCENTAGE = 0.0001  # of one thread's time
REACTION_MS = 5_000
FIRST_FLEXIBLE = 3
WELL_FORMED = ["a", "7", "apache-kafka-java", "4.4.0-rc1.SNAPSHOT", "x" * 1_000]
ILL_FORMED = ["", "a b", "-x", "x-", ".x", "x.", "x_", "_x", "x/y", "x\u00fc", "x\u0661"]
ILL_FORMED += ["x\n", "\nx", "x\ny", "x\0", " x", "x "]  # an expression may end before a line feed


@pytest.fixture(autouse=True)
def _advertising(broker: BrokerUnderTest) -> None:
    """Skip a broker older than ApiVersions (0.10.0), which advertises nothing."""
    broker.version("ApiVersions")


def _table(connection: Connection, version: int) -> ApiVersionsResponse:
    """The answer to an ordinary ApiVersions request."""
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")
    return connection.ask(request, version)


def _unserved_version(broker: BrokerUnderTest, which: str) -> int:
    known = {"highest": 32767, "negative": -1}
    return known.get(which, broker.advertised("ApiVersions").highest + 1)


def _unserved(broker: BrokerUnderTest, version: int) -> bytes:
    """ApiVersions at a version that no broker knows, with the body of the nearest served one.

    Nothing asks at an unserved version between 0 and 3, the first with a flexible header.
    """
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")
    highest = max(FIRST_FLEXIBLE, broker.advertised("ApiVersions").highest)
    payload = bytearray(encode_request(request, highest if version > 0 else 0, 1, "c"))
    payload[2:4] = struct.pack(">h", version)
    return bytes(payload)


def _unserved_without_body(version: int) -> bytes:
    """ApiVersions at a version that no broker knows: a header (v2 above 0) and no body at all."""
    client_id = b"c\0" if version > 0 else b"c"  # tags behind it
    return struct.pack(">hhih", API_VERSIONS_KEY, version, 1, 1) + client_id


@judges("APIV-001")
def test_api_versions_v0_lists_each_api_key_once_with_valid_range(broker: BrokerUnderTest) -> None:
    """Each served API with its lowest and highest version."""
    connection = broker.connect()
    with requirement("APIV-001", api_key=API_VERSIONS_KEY, api_version=0):
        answer = _table(connection, 0)
        expect_error(answer.error_code, ErrorCode.NONE)
        repeated = [k for k, n in Counter(one.api_key for one in answer.api_keys).items() if n > 1]
        assert not repeated, f"api keys listed more than once: {repeated}"
        upside_down = [
            one for one in answer.api_keys if not 0 <= one.min_version <= one.max_version
        ]
        assert not upside_down, f"no range of versions: {upside_down}"
        assert any(one.api_key == API_VERSIONS_KEY for one in answer.api_keys), (
            "ApiVersions itself is not listed"
        )


@judges("APIV-002")
@pytest.mark.parametrize("body", ["known", "none"])
@pytest.mark.parametrize("which", ["next", "highest", "negative"])
def test_api_versions_at_unsupported_version_returns_error_in_v0_format(
    broker: BrokerUnderTest, which: str, body: str
) -> None:
    """The broker returns UNSUPPORTED_VERSION, with its range of ApiVersions.

    So it does whatever the body, as it cannot know the schema, and below version 0 too.
    """
    advertised = broker.advertised("ApiVersions")
    version = _unserved_version(broker, which)
    connection = broker.connect()
    with requirement("APIV-002", api_key=API_VERSIONS_KEY, api_version=version):
        asked = _unserved(broker, version) if body == "known" else _unserved_without_body(version)
        connection.send_frame(asked)
        answer = decode(ApiVersionsResponse, 0, connection.receive_frame()[4:])
        expect_error(answer.error_code, ErrorCode.UNSUPPORTED_VERSION)
        shown = [
            VersionRange(one.min_version, one.max_version)
            for one in answer.api_keys
            if one.api_key == API_VERSIONS_KEY
        ]
        assert shown == [advertised], f"the range of ApiVersions is {advertised}, shown {shown}"


@judges("APIV-003")
@pytest.mark.parametrize("which", ["next", "highest"])
def test_api_versions_v0_is_served_after_unsupported_version(
    broker: BrokerUnderTest, which: str
) -> None:
    """The same connection goes on."""
    connection = broker.connect()
    connection.send_frame(_unserved(broker, _unserved_version(broker, which)))
    connection.receive_frame()
    with requirement("APIV-003", api_key=API_VERSIONS_KEY, api_version=0):
        answer = _table(connection, 0)
        expect_error(answer.error_code, ErrorCode.NONE)
        assert answer.api_keys, "the table is empty"


@judges("APIV-017")
@at_versions("ApiVersions")
def test_api_versions_of_shown_range_is_served_after_unsupported_version(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Twice on the same connection: refused, then answered in the layout of its version."""
    connection = broker.connect("APIV-017")
    with requirement("APIV-017"):
        for _ in range(2):
            connection.send_frame(_unserved(broker, _unserved_version(broker, "next")))
            connection.receive_frame()
            answer = _table(connection, api_version)
            expect_error(answer.error_code, ErrorCode.NONE)
            assert answer.api_keys, "the table is empty"


@judges("APIV-004")
@at_versions("ApiVersions", "3+")
@pytest.mark.parametrize("field", ["client_software_name", "client_software_version"])
def test_api_versions_with_invalid_client_software_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int, field: str
) -> None:
    """Letters and digits at both ends, between them also dots and dashes; all else is refused."""
    with requirement("APIV-004") as check:
        for text in ILL_FORMED:
            with check.subtest(f"{field} {text!r}"):
                request = ApiVersionsRequest(
                    client_software_name="kc", client_software_version="1.0"
                )
                setattr(request, field, text)
                answer = broker.ask(request, api_version)
                assert answer.error_code == ErrorCode.INVALID_REQUEST, (
                    f"{field} {text!r} got {ErrorCode.describe(answer.error_code)}"
                )
        for text in WELL_FORMED:
            with check.subtest(f"{field} {text!r}"):
                request = ApiVersionsRequest(
                    client_software_name="kc", client_software_version="1.0"
                )
                setattr(request, field, text)
                answer = broker.ask(request, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"{field} {text!r}")


@judges("APIV-016")
@at_versions("ApiVersions", "5+")
def test_api_versions_for_another_cluster_or_node_returns_rebootstrap_required(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The right cluster and node, either of them wrong, both wrong, none given."""
    cluster_id, node_id = broker.metadata([]).cluster_id or "", broker.own_id()
    wanted: dict[tuple[str | None, int], ErrorCode] = {
        (cluster_id, node_id): ErrorCode.NONE,
        (None, -1): ErrorCode.NONE,
        (cluster_id, node_id + 1): ErrorCode.REBOOTSTRAP_REQUIRED,
        (f"{cluster_id}-other", node_id): ErrorCode.REBOOTSTRAP_REQUIRED,
        (f"{cluster_id}-other", node_id + 1): ErrorCode.REBOOTSTRAP_REQUIRED,
        (None, node_id): ErrorCode.INVALID_REQUEST,
        (cluster_id, -1): ErrorCode.INVALID_REQUEST,
    }
    with requirement("APIV-016") as check:
        for (cluster, node), error in wanted.items():
            with check.subtest(f"cluster {cluster}, node {node}"):
                request = ApiVersionsRequest(
                    client_software_name="kc",
                    client_software_version="1.0",
                    cluster_id=cluster,
                    node_id=node,
                )
                answer = broker.ask(request, api_version)
                expect_error(answer.error_code, error, f"cluster {cluster}, node {node}")


@judges("APIV-005")
@each_api
def test_each_advertised_version_of_api_is_served(broker: BrokerUnderTest, api_name: str) -> None:
    """A valid request at each advertised version gets an answer."""
    key = api_named(api_name).key
    connection = broker.connect()
    for correlation_id, version in enumerate(served_versions(broker, api_name), start=500):
        request = encode_request(
            harmless_request(broker, api_name, version), version, correlation_id, "APIV-005"
        )
        with requirement("APIV-005", api_key=key, api_version=version):
            connection.send_frame(request)
            expect_answers(connection, [correlation_id])


@judges("APIV-006")
def test_request_with_unadvertised_api_key_closes_connection(broker: BrokerUnderTest) -> None:
    """Version 0 of every key outside the advertised set: closed without an answer."""
    unlisted = set(range(HIGHEST_KEY_PROBED + 1)) - set(broker.api_versions) - set(SERVED_UNLISTED)
    for key in sorted(unlisted - broker.grants.refused.keys()):
        with requirement("APIV-006", api_key=key, api_version=0):
            connection = broker.connect()  # within: what was asked before must not end the broker
            connection.send_frame(struct.pack(">hhih", key, 0, 1, 1) + b"c" + bytes(64))
            connection.expect_closed()
        connection.close()


@judges("APIV-009")
def test_api_versions_v3_omits_features_with_minimum_version_0(broker: BrokerUnderTest) -> None:
    """v3 lists the features with a minimum above 0, v4 all; finalized features have an epoch."""
    broker.version("ApiVersions", "4+")
    connection = broker.connect()
    with requirement("APIV-009", api_key=API_VERSIONS_KEY):
        third, fourth = _table(connection, 3), _table(connection, 4)
        zero = [f.name for f in third.supported_features if f.min_version == 0]
        assert not zero, f"v3 lists features whose minimum is 0: {zero}"
        shown = {f.name for f in third.supported_features}
        expected = {f.name for f in fourth.supported_features if f.min_version > 0}
        assert shown == expected, f"v3 lists {shown}, of those of v4 it is to list {expected}"
        for answer in (third, fourth):
            if answer.finalized_features:
                assert answer.finalized_features_epoch >= 0, "finalized features without an epoch"
        ranges = {
            f.name: VersionRange(f.min_version, f.max_version) for f in fourth.supported_features
        }
        for feature in fourth.finalized_features:
            assert feature.name in ranges, f"{feature.name} is finalized and not supported"
            assert feature.max_version_level in ranges[feature.name], (
                f"{feature.name} is finalized at {feature.max_version_level}, "
                f"supported is {ranges[feature.name]}"
            )


@judges("APIV-011")
@at_versions("ApiVersions")
def test_api_versions_does_not_advertise_unstable_versions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The highest version of each API is a released one."""
    connection = broker.connect()
    with requirement("APIV-011"):
        for one in _table(connection, api_version).api_keys:
            api = APIS.get(one.api_key)
            unstable = api.unstable_versions if api else ()
            assert one.max_version not in unstable, (
                f"{api.name if api else one.api_key} v{one.max_version} is advertised, unreleased"
            )


@judges("APIV-012")
def test_produce_advertised_from_v0_closes_connection_at_v2(broker: BrokerUnderTest) -> None:
    """Lowest version 0 is shown to clients that read it; v2 is then refused by a close."""
    broker.version("Produce")
    advertised = broker.shown("Produce")
    connection = broker.connect()
    with requirement("APIV-012", api_key=0, api_version=2):
        assert advertised.lowest == 0, f"advertised is {advertised}: what is shown is served"
        request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[])
        connection.send_frame(encode_request(request, 2, 1))
        connection.expect_closed()


@judges("APIV-013")
def test_lowest_advertised_versions_match_kip_896(broker: BrokerUnderTest) -> None:
    """The lowest version of each API is that of the published table."""
    broker.version("ApiVersions", "3+")
    connection = broker.connect()
    features = {f.name: f for f in _table(connection, 3).supported_features}
    metadata = features.get(METADATA_VERSION)
    if metadata is None or not (
        metadata.min_version >= LOWEST_METADATA_VERSION_IN_4_0
        and metadata.max_version >= FIRST_METADATA_VERSION_OF_4_0
    ):
        raise NotSupported(f"its {METADATA_VERSION} does not show a broker of 4.0 or later")
    with requirement("APIV-013"):
        wrong = {
            key: str(found)
            for key, found in broker.api_versions.items()
            if found.lowest not in KIP_896_LOWEST.get(key, {found.lowest})
        }
        assert not wrong, f"api keys that do not begin where KIP-896 says: {wrong}"


def _set_quota(broker: BrokerUnderTest, client_id: str, *, remove: bool = False) -> None:
    """Hardly any time for requests with this client id."""
    change = AlterClientQuotasRequest
    entity = change.EntityData(entity_type="client-id", entity_name=client_id)
    quota = change.OpData(key="request_percentage", value=TINY_PERCENTAGE, remove=remove)
    entry = change.EntryData(entity=[entity], ops=[quota])
    answer = broker.ask(change(entries=[entry]), broker.version("AlterClientQuotas")).entries[0]
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"AlterClientQuotas: {ErrorCode.describe(answer.error_code)}")


def _throttled(broker: BrokerUnderTest, version: int) -> tuple[Connection, ApiVersionsResponse]:
    """The first throttled answer to a client with a quota, which takes time to arrive."""
    client_id = broker.unique_topic()
    connection = broker.connect(client_id)
    _set_quota(broker, client_id)
    try:
        answer = broker.eventually(
            lambda: next(
                (a for a in [_table(connection, version)] if a.throttle_time_ms > 0), None
            ),
            "an answer is throttled",
        )
    except ResponseTimeout as error:
        raise NotApplicable("request_quota", f"its quotas do not throttle: {error}") from error
    finally:
        _set_quota(broker, client_id, remove=True)
    return connection, answer


@judges("APIV-015")
@at_versions("ApiVersions", "1+")
def test_throttled_api_versions_response_has_all_api_keys(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A client over its request quota receives the throttle time and the table of all others."""
    _, answer = _throttled(broker, api_version)
    others = _table(broker.connect(), api_version)
    with requirement("APIV-015"):
        expect_error(answer.error_code, ErrorCode.NONE)
        missing = broker.api_versions.keys() - {one.api_key for one in answer.api_keys}
        assert not missing, f"api keys that the throttled table lacks: {sorted(missing)}"
        found, expected = answer.api_keys, others.api_keys
        assert found == expected, f"throttled: {found}, others get {expected}"


@judges("APIV-015")
def test_connection_serves_next_request_after_throttled_api_versions(
    broker: BrokerUnderTest,
) -> None:
    """The next request is answered too, if later."""
    version = broker.version("ApiVersions", "1+")
    connection, answer = _throttled(broker, version)
    with requirement("APIV-015", api_key=API_VERSIONS_KEY, api_version=version):
        connection.send(ApiVersionsRequest(), 0, correlation_id=15)
        wait_ms = answer.throttle_time_ms + broker.scaled_ms(REACTION_MS)
        found = correlation_id_of(connection.receive_frame(wait_ms))
        assert found == 15, f"the answer after a throttled one has correlation id {found}"
