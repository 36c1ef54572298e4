"""A client thread's connections to the brokers, and its knowledge of leaders and coordinators."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
)
from harness.codec.structs import Message, Request
from harness.codec.versions import VersionRange

ANSWER_MS = 2_500
PAUSE_S, DELIVERY_S = 0.03, 20.0
FIRST_WITH_MANY_KEYS = 4  # of FindCoordinator (KIP-699)
AGAIN = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""Errors after which a client sends the same request again."""
M = TypeVar("M", bound=Message)


class GivenUp(Exception):
    """A request got no final answer in all its time."""


class ClientWire:
    """Connections of one thread by node; broken ones are replaced."""

    def __init__(
        self,
        addresses: Mapping[int, Address],
        versions: Mapping[int, tuple[int, int]],
        topic: Topic,
        client_id: str,
    ) -> None:
        self.topic = topic
        self._addresses, self._client_id = dict(addresses), client_id
        self._versions = {key: VersionRange(*pair) for key, pair in versions.items()}
        self._connections: dict[int, Connection] = {}
        self._nodes: dict[object, int] = {}  # of partitions and of coordinators' keys

    def version(self, request: type[Message], wanted: str = "0+") -> int:
        """The highest version in a range that broker and codec know."""
        api = api_of(request)
        usable = self._versions[api.key] & VersionRange.parse(wanted) & api.valid_versions
        return usable.highest

    def ask(self, node: int, request: Request[M], version: int) -> M:
        """Raises BrokerMisbehaved; the connection is closed then."""
        connection = self._connections.get(node)
        if connection is None:
            address = self._addresses[node]
            connection = Connection((address.host, address.port), self._client_id, ANSWER_MS)
            self._connections[node] = connection
        try:
            return connection.ask(request, version, tolerant=True)
        except BrokerMisbehaved:
            self._connections.pop(node).close()
            raise

    def ask_until(
        self,
        where: object,
        request: Request[M],
        version: int,
        code_of: Callable[[M], int],
        until: Callable[[], bool],
    ) -> tuple[M, int]:
        """Return the first final answer of a partition's leader, or of a key's coordinator.

        ``where``: a partition, or (key type, key). With it the number of attempts, of which an
        earlier one may have had its effect. Raises GivenUp when ``until`` is true.
        """
        attempts = 0
        while not until():
            try:
                node = self._node_of(where)
                if node is not None:
                    attempts += 1
                    answer = self.ask(node, request, version)
                    if code_of(answer) not in AGAIN:
                        return answer, attempts
            except BrokerMisbehaved:
                pass  # no answer: the leader may be another one now
            self._nodes.pop(where, None)
            time.sleep(PAUSE_S)
        raise GivenUp(f"{type(request).__name__}, {attempts} attempts")

    def time_is_up(self) -> Callable[[], bool]:
        """Return a test of the time that a request has from now on."""
        deadline = time.monotonic() + DELIVERY_S
        return lambda: time.monotonic() > deadline

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # -- leaders and coordinators ------------------------------------------------------------------

    def _node_of(self, where: object) -> int | None:
        if where not in self._nodes:
            for node in self._addresses:
                try:
                    found = self._look(node, where)
                except BrokerMisbehaved:
                    continue
                if found in self._addresses:
                    self._nodes[where] = found
                    break
        return self._nodes.get(where)

    def _look(self, node: int, where: object) -> int:
        if isinstance(where, tuple):
            return self._coordinator(node, *where)
        names = [MetadataRequest.MetadataRequestTopic(name=self.topic.name)]
        request = MetadataRequest(topics=names, allow_auto_topic_creation=False)
        answer = self.ask(node, request, self.version(MetadataRequest, "4+"))
        leaders = {each.partition_index: each.leader_id for each in only(
            answer.topics, "topic").partitions}  # fmt: skip
        return leaders.get(where, -1)  # type: ignore[call-overload,no-any-return]

    def _coordinator(self, node: int, key_type: int, key: str) -> int:
        version = self.version(FindCoordinatorRequest, "1+")
        request = FindCoordinatorRequest(key_type=key_type, key=key)
        if version >= FIRST_WITH_MANY_KEYS:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        answer = self.ask(node, request, version)
        found: FindCoordinatorResponse | FindCoordinatorResponse.Coordinator = answer
        if version >= FIRST_WITH_MANY_KEYS:
            found = only(answer.coordinators, "coordinator")
        return found.node_id if found.error_code == ErrorCode.NONE else -1
