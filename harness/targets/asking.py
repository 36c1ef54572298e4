"""The few questions that are put to a broker before any test: versions, cluster, speed."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved, ResponseTimeout
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from harness.targets.target import Address

CLIENT_ID = "kafka-conformance-probe"
SOFTWARE_NAME = "kafka-conformance"
API_VERSIONS_VERSIONS = (0, 3)  # the simplest first; a broker may have dropped it one day
METADATA_WITH_CLUSTER_ID = 2

ApiVersionRanges = dict[int, tuple[int, int]]
"""api key -> (lowest, highest) version that a broker advertises."""


class NotAnswered(Exception):
    """A broker did not answer as Kafka does; the text says in what way."""


@dataclass(frozen=True)
class Cluster:
    """What Metadata says: cluster id (None: not told), the live brokers' addresses and ids."""

    cluster_id: str | None
    brokers: tuple[Address, ...]
    broker_ids: tuple[int, ...]


@contextmanager
def _asked(address: Address, timeout_ms: int) -> Iterator[Connection]:
    """A connection; every way in which a broker may fail becomes NotAnswered."""
    try:
        with Connection((address.host, address.port), CLIENT_ID, timeout_ms) as connection:
            yield connection
    except ResponseTimeout as problem:
        raise NotAnswered(f"no answer within {timeout_ms} ms") from problem
    except BrokerMisbehaved as problem:
        raise NotAnswered(_reason(problem)) from problem


def _reason(problem: BrokerMisbehaved) -> str:
    """Tell apart what a user can mend: nothing there, no such host, something else there."""
    cause = problem.__cause__
    if isinstance(cause, ConnectionRefusedError):
        return "the connection is refused: nothing listens there"
    if isinstance(cause, socket.gaierror):
        return f"the host name cannot be resolved: {cause.strerror}"
    if isinstance(cause, OSError):
        return str(problem)
    return f"what listens there does not answer as Kafka does: {problem}"


def ask_api_versions(address: Address, timeout_ms: int) -> ApiVersionRanges:
    """What the broker advertises, by its own ApiVersions. Raises NotAnswered."""
    with _asked(address, timeout_ms) as connection:
        return _api_versions(connection)


def _api_versions(connection: Connection) -> ApiVersionRanges:
    error: int = ErrorCode.NONE
    for version in API_VERSIONS_VERSIONS:
        request = ApiVersionsRequest()
        if version >= 3:
            request.client_software_name = SOFTWARE_NAME
            request.client_software_version = "0"
        response = connection.ask(request, version)
        if response.error_code == ErrorCode.NONE:
            return {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
        error = response.error_code
        if error != ErrorCode.UNSUPPORTED_VERSION:
            break
    raise NotAnswered(f"ApiVersions is answered with error {int(error)}")


def ask_cluster(address: Address, timeout_ms: int) -> Cluster:
    """Cluster id and live brokers by Metadata (no topics asked for). Raises NotAnswered.

    At the oldest version that tells the cluster id: whether the others are right is for the
    suites to find out.
    """
    metadata = api_named("Metadata")
    with _asked(address, timeout_ms) as connection:
        lowest, highest = _api_versions(connection).get(metadata.key, (0, -1))
        version = min(highest, max(lowest, METADATA_WITH_CLUSTER_ID))
        if version < 1 or version not in metadata.valid_versions:
            raise NotAnswered(f"it advertises Metadata {lowest} to {highest}, none that we know")
        response = connection.ask(MetadataRequest(topics=[]), version)
        brokers = tuple(Address(broker.host, broker.port) for broker in response.brokers)
        told = version >= METADATA_WITH_CLUSTER_ID
        ids = tuple(broker.node_id for broker in response.brokers)
        return Cluster(response.cluster_id if told else None, brokers, ids)


@dataclass(frozen=True)
class Pace:
    """How quickly a broker answers, in milliseconds.

    ``first_answer_ms``: from the connect to the first answer on a new connection;
    ``round_trips_ms``: one ApiVersions request each, on one connection, one after the other.
    """

    first_answer_ms: float
    round_trips_ms: tuple[float, ...]


def measure_pace(address: Address, timeout_ms: int, round_trips: int) -> Pace:
    """Time ApiVersions requests. Raises NotAnswered."""
    begun = time.perf_counter()
    with _asked(address, timeout_ms) as connection:
        _api_versions(connection)
        first = time.perf_counter() - begun
        taken = []
        for _ in range(round_trips):
            begun = time.perf_counter()
            _api_versions(connection)
            taken.append((time.perf_counter() - begun) * 1000)
    return Pace(first * 1000, tuple(taken))
