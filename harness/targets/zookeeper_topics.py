"""Topics made and deleted in ZooKeeper, as the tools of Kafka before 0.10.1 did.

Kafka's class AdminUtils (0.8.0 to 0.10.0) writes the settings below ``/config/topics`` (since
0.8.1) and then the assignment of replicas below ``/brokers/topics``, which the controller watches.
A topic is marked for deletion below ``/admin/delete_topics`` (since 0.8.1, and done where
``delete.topic.enable`` is set).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from harness.base.address import Address
from harness.client.errors import ApiNotAdvertised, PreparationFailed

BROKERS = "/brokers/ids"
TOPICS = "/brokers/topics"
CONFIGS = "/config/topics"
DELETIONS = "/admin/delete_topics"
CONTROLLER = "/controller"
TIMEOUT_S = 10.0


class ZookeeperTopics:
    """A :class:`harness.client.topic_maker.TopicMaker` for brokers that use this ZooKeeper.

    Which of it a release knows is seen by the folders that its brokers made there.
    """

    def __init__(self, zookeeper: Address) -> None:
        self.zookeeper = zookeeper

    def make(
        self, name: str, partitions: int, configs: Mapping[str, str], *, node: int | None = None
    ) -> None:
        """Without ``node`` on the live brokers in turn; see TopicMaker."""
        with self._connected() as client:
            brokers = sorted(int(each) for each in client.get_children(BROKERS))
            brokers = brokers if node is None else [node]
            if not brokers:
                raise PreparationFailed(f"{name}: ZooKeeper {self.zookeeper} has no live broker")
            assignment = [[brokers[index % len(brokers)]] for index in range(partitions)]
            _make(client, name, assignment, configs)

    def make_assigned(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """See :class:`harness.client.cluster_registry.ClusterRegistry`."""
        with self._connected() as client:
            _make(client, name, assignment, configs)

    def controller(self) -> int:
        """See :class:`harness.client.cluster_registry.ClusterRegistry`."""
        found = self._read(CONTROLLER)
        return int(found["brokerid"]) if found else -1

    def replicas(self, name: str, partition: int) -> tuple[int, ...]:
        """See :class:`harness.client.cluster_registry.ClusterRegistry`."""
        found = self._read(f"{TOPICS}/{name}")
        return tuple(found["partitions"].get(str(partition), ())) if found else ()

    def isr(self, name: str, partition: int) -> tuple[int, ...]:
        """See :class:`harness.client.cluster_registry.ClusterRegistry`."""
        found = self._read(f"{TOPICS}/{name}/partitions/{partition}/state")
        return tuple(found["isr"]) if found else ()

    def _read(self, path: str) -> Any:
        """The JSON that stands there; None where there is nothing."""
        with self._connected() as client:
            try:
                content, _ = client.get(path)
            except NoNodeError:
                return None
            return json.loads(content)

    def delete(self, names: Sequence[str]) -> None:
        """See TopicMaker."""
        with self._connected() as client:
            if not client.exists(DELETIONS):
                return
            for name in names:
                if client.exists(f"{TOPICS}/{name}"):
                    with suppress(NodeExistsError):
                        client.create(f"{DELETIONS}/{name}")

    @contextmanager
    def _connected(self) -> Iterator[KazooClient]:
        """A session for one operation: none lives on when the ZooKeeper ends."""
        client = KazooClient(hosts=str(self.zookeeper), timeout=TIMEOUT_S)
        try:
            client.start(timeout=TIMEOUT_S)
            yield client
        except (KazooException, KazooTimeoutError) as problem:
            raise PreparationFailed(f"ZooKeeper {self.zookeeper}: {problem!r}") from problem
        finally:
            client.stop()
            client.close()


def _make(
    client: KazooClient,
    name: str,
    assignment: Sequence[Sequence[int]],
    configs: Mapping[str, str],
) -> None:
    if client.exists(CONFIGS):
        _put(client, f"{CONFIGS}/{name}", {"version": 1, "config": dict(configs)})
    elif configs:
        raise ApiNotAdvertised("this release has no topics with settings of their own")
    replicas = {str(index): list(nodes) for index, nodes in enumerate(assignment)}
    try:
        # 0.8.0 makes the folder with its first topic
        content = _text({"version": 1, "partitions": replicas})
        client.create(f"{TOPICS}/{name}", content, makepath=True)
    except NodeExistsError as problem:
        raise PreparationFailed(f"{name}: the topic exists already") from problem


def _put(client: KazooClient, path: str, content: object) -> None:
    """As writeTopicConfig does: what a deleted topic of that name left is overwritten."""
    try:
        client.create(path, _text(content))
    except NodeExistsError:
        client.set(path, _text(content))


def _text(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
