"""A virtual broker of a cluster with a ZooKeeper: a session, and in it the broker's registration.

Layouts: Kafka's classes ZkUtils (0.8 to 0.11) and kafka.zk.ZkData (1.1 on). A registration copies
that of an existing broker, so its version and fields are the release's own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.virtual_broker.assigned_topics import UNKNOWN
from harness.virtual_broker.membership import NO_BROKER_EPOCH, Membership, PartitionState
from harness.virtual_broker.peer_endpoint import Address, ZooKeeperEndpoint

BROKERS = "/brokers/ids"
TOPICS = "/brokers/topics"
CONFIGS = "/config/topics"
CONNECT_TIMEOUT_S = 10.0
SESSION_TIMEOUT_S = 10.0
"""The longest that a ZooKeeper with ticks of half a second allows: a pause must not end it."""
NOBODY_LISTENS: Address = ("127.0.0.1", 9)


@contextmanager
def _told_as_preparation(where: str) -> Iterator[None]:
    try:
        yield
    except (KazooException, KazooTimeoutError) as problem:
        raise PreparationFailed(f"ZooKeeper, {where}: {problem!r}") from problem


class ZookeeperSession:
    """A ZooKeeper session; its ephemeral nodes are removed with it."""

    def __init__(self, zookeeper: Address) -> None:
        """Raises PreparationFailed: no ZooKeeper answers there."""
        self._client = KazooClient(hosts="{}:{}".format(*zookeeper), timeout=SESSION_TIMEOUT_S)
        with _told_as_preparation("connecting"):
            self._client.start(timeout=CONNECT_TIMEOUT_S)

    def read(self, path: str) -> Any:
        """Return the JSON document of a node, None without one."""
        with _told_as_preparation(path):
            try:
                data, _ = self._client.get(path)
            except NoNodeError:
                return None
        return json.loads(data)

    def children(self, path: str) -> list[str]:
        """Return the node's children, sorted; none without such a node."""
        with _told_as_preparation(path):
            try:
                return sorted(self._client.get_children(path))
            except NoNodeError:
                return []

    def write(self, path: str, document: object, *, ephemeral: bool = False) -> None:
        """Create a node and its parents. Raises PreparationFailed: it exists already."""
        content = json.dumps(document, separators=(",", ":")).encode()
        with _told_as_preparation(path):
            try:
                self._client.create(path, content, ephemeral=ephemeral, makepath=True)
            except NodeExistsError as problem:
                raise PreparationFailed(f"ZooKeeper: {path} exists already") from problem

    def close(self) -> None:
        """End the session, and the thread that keeps it alive. Twice is fine."""
        self._client.stop()
        self._client.close()


class ZooKeeperMember:
    """A broker that lives as long as its session."""

    broker_epoch = NO_BROKER_EPOCH

    def __init__(
        self, zookeeper: Address, broker_id: int, listens_at: Address, rack: str | None
    ) -> None:
        self.broker_id = broker_id
        self._zookeeper, self._listens_at, self._rack = zookeeper, listens_at, rack
        self._session: ZookeeperSession | None = None
        self.come_back()

    def come_back(self) -> None:
        """Open a new session with the registration in it. Raises PreparationFailed."""
        if self._session is not None:
            return
        session = ZookeeperSession(self._zookeeper)
        try:
            there = [one for one in session.children(BROKERS) if one != str(self.broker_id)]
            if not there:
                raise PreparationFailed("ZooKeeper has no live broker to be like")
            like = session.read(f"{BROKERS}/{there[0]}")
            document = registration_like(like, self._listens_at, self._rack)
            session.write(f"{BROKERS}/{self.broker_id}", document, ephemeral=True)
        except BaseException:
            session.close()
            raise
        self._session = session

    def leave(self) -> None:
        """End the session, and with it the broker's registration."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def shut_down(self) -> None:
        """End the session; there is no request for consent."""
        self.leave()

    def move(self, listens_at: Address) -> None:
        """Open another session, with the new address."""
        self.leave()
        self._listens_at = listens_at
        self.come_back()

    def close(self) -> None:
        self.leave()


def registration_like(
    other: Mapping[str, Any], listens_at: Address, rack: str | None = None
) -> dict[str, Any]:
    """Return a copy of another broker's registration with its own address, rack and time."""
    host, port = listens_at
    document = dict(other) | {"host": host, "port": port, "jmx_port": -1}
    document["timestamp"] = str(time.time_ns() // 1_000_000)
    if "endpoints" in document:
        names = [one.split("://")[0] for one in document["endpoints"]]
        document["endpoints"] = [f"{name}://{host}:{port}" for name in names]
    if "rack" in document:
        document["rack"] = rack
    return document


class ZooKeeperWorld:
    """A cluster as its ZooKeeper shows it: the truth, where Metadata may be out of date."""

    def __init__(self, client: ZooKeeperEndpoint, broker: BrokerUnderTest) -> None:
        """Raises PreparationFailed."""
        self._client, self._broker = client, broker
        self._session = ZookeeperSession(client.zookeeper)

    def join(
        self, broker_id: int, listens_at: Address = NOBODY_LISTENS, rack: str | None = None
    ) -> Membership:
        """Return a registered broker. The controller sees it before it sees later writes."""
        return ZooKeeperMember(self._client.zookeeper, broker_id, listens_at, rack)

    def create_topic(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """Create a topic as the tools did, in every release: settings, then the assignment.

        It stays: the cluster does not delete a topic with dead replicas.
        """
        if configs:
            self._session.write(f"{CONFIGS}/{name}", {"version": 1, "config": dict(configs)})
        replicas = {str(index): list(those) for index, those in enumerate(assignment)}
        self._session.write(f"{TOPICS}/{name}", {"version": 1, "partitions": replicas})

    def state(self, name: str, partition: int) -> PartitionState:
        """Return the state that the controller and the leader have written."""
        found = self._session.read(f"{TOPICS}/{name}/partitions/{partition}/state")
        if found is None:
            return UNKNOWN
        return PartitionState(found["leader"], found["leader_epoch"], tuple(sorted(found["isr"])))

    def close(self) -> None:
        self._session.close()
