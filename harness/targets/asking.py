"""The few questions that are put to a broker before any test: versions, cluster, speed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from harness.targets.authentication import require_no_authentication
from harness.targets.first_contact import answer, contact
from harness.targets.not_answered import (
    AnsweredWithError,
    AnsweredWrong,
    Closed,
    NotAnswered,
    NotEntered,
    Silence,
)
from harness.targets.wrong_answer import OTHER_VERSION, RANGES, WrongAnswer

SOFTWARE_NAME = "kafka-conformance"
API_VERSIONS_VERSIONS = (0, 3)  # the simplest first; a broker may have dropped it one day
METADATA_WITH_CLUSTER_ID = 2
FIRST_WITH_FEATURES = 3
SILENCE_MS = 1_000
SLOWER_THAN_METADATA = 20
"""A broker before ApiVersions may neither answer nor close when asked for them: it has so long, or
so many times what it needed for Metadata."""

ApiVersionRanges = dict[int, tuple[int, int]]
"""api key -> (lowest, highest) version that a broker advertises."""

FeatureLevels = dict[str, int]
"""name of a feature -> its finalized level (KIP-584), such as ``{"group.version": 1}``."""


@dataclass(frozen=True)
class ProbedCluster:
    """The content of a Metadata response: cluster id, addresses and ids of the live brokers, and
    the id of the controller (None: not in the response)."""

    cluster_id: str | None
    brokers: tuple[Address, ...]
    nodes: tuple[int, ...] = ()
    controller: int | None = None


def ask_api_versions(address: Address, timeout_ms: float) -> ApiVersionRanges:
    """Return the versions that the broker advertises in ApiVersions. Raises NotAnswered."""
    try:
        with contact(address, timeout_ms) as connection:
            return _api_versions(connection)
    except Closed:
        _require_no_later_version(address, timeout_ms)
        raise


def _require_no_later_version(address: Address, timeout_ms: float) -> None:
    """Raises AnsweredWrong: the broker that closed at ApiVersions v0 serves a later version."""
    try:
        with contact(address, timeout_ms) as connection:
            answer(connection, _api_versions_request(FIRST_WITH_FEATURES), FIRST_WITH_FEATURES)
            transcript = connection.transcript.render()
    except AnsweredWrong:
        raise
    except NotAnswered:
        return
    observed = (
        f"ApiVersions v{FIRST_WITH_FEATURES} is answered, and at v0 the connection is closed: a "
        "version that is not served gets UNSUPPORTED_VERSION"
    )
    raise AnsweredWrong(WrongAnswer(OTHER_VERSION, observed), transcript)


def _api_versions(connection: Connection) -> ApiVersionRanges:
    error: int = ErrorCode.NONE
    for version in API_VERSIONS_VERSIONS:
        response = answer(connection, _api_versions_request(version), version)
        if response.error_code == ErrorCode.NONE:
            _require_apis(connection, version, response)
            return {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
        error = response.error_code
        if error != ErrorCode.UNSUPPORTED_VERSION:
            break
    observed = f"ApiVersions v{version} is answered with error {int(error)}"
    raise AnsweredWithError(WrongAnswer(RANGES, observed), connection.transcript.render())


def _require_apis(connection: Connection, version: int, response: ApiVersionsResponse) -> None:
    """Raises AnsweredWrong: a broker serves at least ApiVersions."""
    if not response.api_keys:
        wrong = WrongAnswer(RANGES, f"ApiVersions v{version} lists no API, not even itself")
        raise AnsweredWrong(wrong, connection.transcript.render())


def _api_versions_request(version: int) -> ApiVersionsRequest:
    if version < FIRST_WITH_FEATURES:
        return ApiVersionsRequest()
    return ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version="0")


def ask_finalized_features(address: Address, timeout_ms: int) -> FeatureLevels:
    """The levels in ApiVersions v3, a version that the broker advertises. Raises NotAnswered."""
    with contact(address, timeout_ms) as connection:
        request = _api_versions_request(FIRST_WITH_FEATURES)
        response = answer(connection, request, FIRST_WITH_FEATURES)
        return {one.name: one.max_version_level for one in response.finalized_features}


def advertises(address: Address, timeout_ms: int) -> bool:
    """True if the broker answers ApiVersions, False if only Metadata v0, as before 0.10.

    0.8 closes the connection on ApiVersions, 0.9 neither answers nor closes. The time that Metadata
    takes distinguishes a slow broker from them. Raises NotAnswered: neither is answered, within
    ``timeout_ms`` each.
    """
    try:
        ask_api_versions(address, min(SILENCE_MS, timeout_ms))
    except (AnsweredWrong, NotEntered):
        raise
    except NotAnswered:
        patience_ms = _patience_after_metadata(address, timeout_ms)
    else:
        return True
    try:
        ask_api_versions(address, patience_ms or timeout_ms)
    except NotAnswered:
        if patience_ms is None:
            raise
        return False
    return True


def _patience_after_metadata(address: Address, timeout_ms: int) -> int | None:
    """Return the timeout of ApiVersions if Metadata v0 is answered, None if it is refused."""
    begun = time.perf_counter()
    try:
        ask_oldest_cluster(address, timeout_ms)
    except (Silence, AnsweredWrong):
        raise
    except NotAnswered:
        return None
    taken_ms = (time.perf_counter() - begun) * 1000
    return min(timeout_ms, max(SILENCE_MS, int(SLOWER_THAN_METADATA * taken_ms)))


def ask_cluster(address: Address, timeout_ms: float) -> ProbedCluster:
    """Return cluster id and live brokers by Metadata without topics. Raises NotAnswered.

    The request has the oldest version with a cluster id: the suites find out whether the other
    versions are right.
    """
    with contact(address, timeout_ms) as connection:
        ranges = _api_versions(connection)
        version = _metadata_version(ranges)
        try:
            response = answer(connection, MetadataRequest(topics=[]), version)
        except Closed as problem:
            require_no_authentication(address, timeout_ms, ranges, problem)
            raise
        told = version >= METADATA_WITH_CLUSTER_ID
        cluster_id = response.cluster_id if told else None
        return replace(_cluster(response, cluster_id), controller=response.controller_id)


def _metadata_version(ranges: ApiVersionRanges) -> int:
    """Raises NotAnswered: there is none that a client can use."""
    metadata = api_named("Metadata")
    if metadata.key not in ranges:
        raise NotAnswered(
            "ApiVersions lists no Metadata, so it is no broker's listener for clients; a KRaft "
            "controller answers so"
        )
    lowest, highest = ranges[metadata.key]
    version = min(highest, max(lowest, METADATA_WITH_CLUSTER_ID))
    if version < 1 or version not in metadata.valid_versions:
        raise NotAnswered(f"it advertises Metadata {lowest} to {highest}, none that we know")
    return version


def ask_oldest_cluster(address: Address, timeout_ms: int) -> ProbedCluster:
    """The live brokers by Metadata v0, for a broker that may not know ApiVersions (before 0.10).

    At v0 no topic means all of them; a name could make a topic. Raises NotAnswered.
    """
    with contact(address, timeout_ms) as connection:
        return _cluster(answer(connection, MetadataRequest(topics=[]), 0), None)


def _cluster(response: MetadataResponse, cluster_id: str | None) -> ProbedCluster:
    brokers = tuple(Address(broker.host, broker.port) for broker in response.brokers)
    return ProbedCluster(cluster_id, brokers, tuple(broker.node_id for broker in response.brokers))


@dataclass(frozen=True)
class AnswerPace:
    """The response times of a broker, in milliseconds.

    ``first_answer_ms``: from the connect to the first answer on a new connection;
    ``round_trips_ms``: one request each, on one connection, one after the other.
    """

    first_answer_ms: float
    round_trips_ms: tuple[float, ...]


def measure_pace(
    address: Address, timeout_ms: int, round_trips: int, *, advertised: bool = True
) -> AnswerPace:
    """Time ApiVersions requests, or Metadata v0 where ApiVersions is not ``advertised``.

    Raises NotAnswered.
    """

    def ask(connection: Connection) -> object:
        if advertised:
            return _api_versions(connection)
        return answer(connection, MetadataRequest(topics=[]), 0)

    begun = time.perf_counter()
    with contact(address, timeout_ms) as connection:
        ask(connection)
        first = time.perf_counter() - begun
        taken = []
        for _ in range(round_trips):
            begun = time.perf_counter()
            ask(connection)
            taken.append((time.perf_counter() - begun) * 1000)
    return AnswerPace(first * 1000, tuple(taken))
