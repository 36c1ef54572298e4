"""The few questions that are put to a broker before any test: versions, cluster, speed."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved, ResponseTimeout, WireViolation
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest, MetadataRequest, MetadataResponse

CLIENT_ID = "kafka-conformance-probe"
SOFTWARE_NAME = "kafka-conformance"
API_VERSIONS_VERSIONS = (0, 3)  # the simplest first; a broker may have dropped it one day
METADATA_WITH_CLUSTER_ID = 2
FIRST_WITH_FEATURES = 3
SILENCE_MS = 1_000
SLOWER_THAN_METADATA = 20
"""A broker before ApiVersions may neither answer nor close when asked for them: it has so long, or
so many times what it needed for Metadata."""

OTHERS = {
    b"\x15\x03": "a TLS listener (its answer begins as a TLS alert does)",
    b"HTTP/": "an HTTP server",
    b"SSH-": "an SSH server",
}
"""Other servers that may be asked by mistake, by the first bytes of their answers."""

ApiVersionRanges = dict[int, tuple[int, int]]
"""api key -> (lowest, highest) version that a broker advertises."""

FeatureLevels = dict[str, int]
"""name of a feature -> its finalized level (KIP-584), such as ``{"group.version": 1}``."""


class NotAnswered(Exception):
    """A broker did not answer as Kafka does; the text describes the difference."""


class Silence(NotAnswered):
    """Nothing came before the deadline."""


class AnsweredWithError(NotAnswered):
    """ApiVersions is known there, but the answer is an error code."""


@dataclass(frozen=True)
class ProbedCluster:
    """The content of a Metadata response: cluster id, addresses and ids of the live brokers, and
    the id of the controller (None: not in the response)."""

    cluster_id: str | None
    brokers: tuple[Address, ...]
    nodes: tuple[int, ...] = ()
    controller: int | None = None


@contextmanager
def _asked(address: Address, timeout_ms: int) -> Iterator[Connection]:
    """A connection; every way in which a broker may fail becomes NotAnswered."""
    try:
        with Connection((address.host, address.port), CLIENT_ID, timeout_ms) as connection:
            yield connection
    except WireViolation as problem:
        raise NotAnswered(_not_kafka(problem, connection.unread)) from problem
    except ResponseTimeout as problem:
        raise Silence(f"no answer within {timeout_ms} ms") from problem
    except BrokerMisbehaved as problem:
        raise NotAnswered(_reason(problem)) from problem


def _not_kafka(problem: WireViolation, unread: bytes) -> str:
    """Name the server that listens instead, by the first bytes of its answer."""
    for begin, what in OTHERS.items():
        if unread.startswith(begin):
            return f"what listens there does not answer as Kafka does: this is {what}"
    return _reason(problem)


def _reason(problem: BrokerMisbehaved) -> str:
    """Return a reason that a user can act on: nothing there, no such host, another server."""
    cause = problem.__cause__
    if isinstance(cause, ConnectionRefusedError):
        return "the connection is refused: nothing listens there"
    if isinstance(cause, socket.gaierror):
        return f"the host name cannot be resolved: {cause.strerror}"
    if isinstance(cause, OSError):
        return str(problem)
    return f"what listens there does not answer as Kafka does: {problem}"


def ask_api_versions(address: Address, timeout_ms: int) -> ApiVersionRanges:
    """Return the versions that the broker advertises in ApiVersions. Raises NotAnswered."""
    with _asked(address, timeout_ms) as connection:
        return _api_versions(connection)


def _api_versions(connection: Connection) -> ApiVersionRanges:
    error: int = ErrorCode.NONE
    for version in API_VERSIONS_VERSIONS:
        response = connection.ask(_api_versions_request(version), version)
        if response.error_code == ErrorCode.NONE:
            return {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
        error = response.error_code
        if error != ErrorCode.UNSUPPORTED_VERSION:
            break
    raise AnsweredWithError(f"ApiVersions is answered with error {int(error)}")


def _api_versions_request(version: int) -> ApiVersionsRequest:
    if version < FIRST_WITH_FEATURES:
        return ApiVersionsRequest()
    return ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version="0")


def ask_finalized_features(address: Address, timeout_ms: int) -> FeatureLevels:
    """The levels in ApiVersions v3, a version that the broker advertises. Raises NotAnswered."""
    with _asked(address, timeout_ms) as connection:
        request = _api_versions_request(FIRST_WITH_FEATURES)
        response = connection.ask(request, FIRST_WITH_FEATURES)
        return {one.name: one.max_version_level for one in response.finalized_features}


def advertises(address: Address, timeout_ms: int) -> bool:
    """True if the broker answers ApiVersions, False if only Metadata v0, as before 0.10.

    0.8 closes the connection on ApiVersions, 0.9 neither answers nor closes. The time that Metadata
    takes distinguishes a slow broker from them. Raises NotAnswered: neither is answered, within
    ``timeout_ms`` each.
    """
    try:
        ask_api_versions(address, min(SILENCE_MS, timeout_ms))
    except AnsweredWithError:
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
    except Silence:
        raise
    except NotAnswered:
        return None
    taken_ms = (time.perf_counter() - begun) * 1000
    return min(timeout_ms, max(SILENCE_MS, int(SLOWER_THAN_METADATA * taken_ms)))


def ask_cluster(address: Address, timeout_ms: int) -> ProbedCluster:
    """Return cluster id and live brokers by Metadata without topics. Raises NotAnswered.

    The request has the oldest version with a cluster id: the suites find out whether the other
    versions are right.
    """
    metadata = api_named("Metadata")
    with _asked(address, timeout_ms) as connection:
        lowest, highest = _api_versions(connection).get(metadata.key, (0, -1))
        version = min(highest, max(lowest, METADATA_WITH_CLUSTER_ID))
        if version < 1 or version not in metadata.valid_versions:
            raise NotAnswered(f"it advertises Metadata {lowest} to {highest}, none that we know")
        response = connection.ask(MetadataRequest(topics=[]), version)
        told = version >= METADATA_WITH_CLUSTER_ID
        cluster_id = response.cluster_id if told else None
        return replace(_cluster(response, cluster_id), controller=response.controller_id)


def ask_oldest_cluster(address: Address, timeout_ms: int) -> ProbedCluster:
    """The live brokers by Metadata v0, for a broker that may not know ApiVersions (before 0.10).

    At v0 no topic means all of them; a name could make a topic. Raises NotAnswered.
    """
    with _asked(address, timeout_ms) as connection:
        return _cluster(connection.ask(MetadataRequest(topics=[]), 0), None)


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
        return connection.ask(MetadataRequest(topics=[]), 0)

    begun = time.perf_counter()
    with _asked(address, timeout_ms) as connection:
        ask(connection)
        first = time.perf_counter() - begun
        taken = []
        for _ in range(round_trips):
            begun = time.perf_counter()
            ask(connection)
            taken.append((time.perf_counter() - begun) * 1000)
    return AnswerPace(first * 1000, tuple(taken))
