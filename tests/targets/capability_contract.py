"""Contract of each capability of a target, tried for real; a missing one is refused by name."""

import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.codec.messages import MetadataRequest
from harness.proxies.event import Event
from harness.runner.brokers.power_loss_broker import ONLY_NODE
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.target import (
    BROKER_CONFIG,
    DISCONNECT_NODE,
    JOIN_AS_BROKER,
    KEPT,
    KILL_NODE,
    LINKS,
    LOG_DIRECTORY,
    LOGS,
    OWN_BROKER,
    PAUSE_NODE,
    POWER_LOSS,
    RESTART_NODE,
    STOP_NODE,
    UPGRADE,
    Target,
)
from harness.virtual_broker.cluster import JoinedCluster
from labs.awaiting import await_that
from tests.targets import kinds

METADATA = 3
ANSWER_MS = 30_000
SILENCE_MS = 500
NOBODY = 987_654
SETTING = {"message.max.bytes": "2000000"}

Operation = Callable[[Target, int], object]
ON_A_NODE: dict[str, list[Operation]] = {
    STOP_NODE: [lambda target, node: target.stop_node(node)],
    KILL_NODE: [lambda target, node: target.kill_node(node)],
    PAUSE_NODE: [
        lambda target, node: target.pause_node(node),
        lambda target, node: target.resume_node(node),
    ],
    RESTART_NODE: [lambda target, node: target.restart_node(node)],
    DISCONNECT_NODE: [
        lambda target, node: target.disconnect_node(node),
        lambda target, node: target.reconnect_node(node),
    ],
    LOG_DIRECTORY: [lambda target, node: target.log_directories(node)],
    LOGS: [lambda target, node: target.logs(node)],
}
REFUSED: dict[str, list[Operation]] = {
    **ON_A_NODE,
    OWN_BROKER: [lambda target, _: target.start_another()],
    BROKER_CONFIG: [lambda target, _: target.start_another(SETTING)],
    LINKS: [lambda target, _: target.start_another(links=True)],
    UPGRADE: [lambda target, _: target.start_another(older=True)],
    POWER_LOSS: [lambda target, _: target.start_another(node_folders={ONLY_NODE: Path("nowhere")})],
}


def accepts(address: Address) -> bool:
    try:
        socket.create_connection(address, 5).close()
    except OSError:
        return False
    return True


def kept_beside(target: Target) -> Target | None:
    """A broker with data that outlives its process; None if the target can start none."""
    try:
        return target.start_another(kept=True)
    except MissingCapability:
        return None


class Asked:
    """A started target under test, and the node that a test may harm."""

    def __init__(self, target: Target) -> None:
        target.start()
        self.target = target
        self.info: TargetInfo = probe(target)
        self.node = target.nodes[-1]

    def lacks(self, *capabilities: str) -> bool:
        """True if one of them is not declared. Check then that the target refuses it."""
        missing = [name for name in capabilities if name not in self.target.capabilities]
        for name in missing:
            operations = REFUSED[name]
            for operation in operations:
                with pytest.raises(MissingCapability) as caught:
                    operation(self.target, self.node)
                assert caught.value.capability in missing
                assert self.target.spec in str(caught.value)
        if missing:
            assert self.answers(), "a refusal changes nothing"
        return bool(missing)

    def connect(self) -> Connection:
        return Connection(self.target.address_of(self.node), timeout_ms=ANSWER_MS)

    def ask(self, connection: Connection) -> None:
        """Send a request that every broker answers, and do not read the answer."""
        connection.send(MetadataRequest(topics=[]), self.info.api_versions[METADATA][0])

    def answers(self) -> bool:
        try:
            with self.connect() as connection:
                self.ask(connection)
                connection.receive()
        except BrokerMisbehaved:
            return False
        return True

    def topics(self) -> set[str]:
        client = self.client()
        try:
            found = client.metadata(None).topics
        finally:
            client.close()
        return {topic.name or "" for topic in found if not topic.error_code}

    def client(self) -> BrokerUnderTest:
        return BrokerUnderTest(
            self.target.addresses,
            self.info.api_versions,
            time_scale=self.info.time_scale,
            name_prefix="kc-contract",
        )

    def make_topic(self) -> str:
        """Create a topic by auto-creation, which every release of Kafka knows."""
        name = f"kc-contract-{secrets.token_hex(4)}"
        client = self.client()
        try:
            await_that(
                lambda: any(
                    topic.name == name and not topic.error_code and topic.partitions
                    for topic in client.metadata([name], auto_create=True).topics
                ),
                f"the topic {name} is not made",
            )
        finally:
            client.close()
        return name

    def closes(self, connection: Connection) -> bool:
        """True if an open connection is closed."""
        try:
            connection.expect_closed(ANSWER_MS)
        except BrokerMisbehaved:
            return False
        return True


class CapabilityContract:
    """``name`` is a function of :mod:`tests.targets.kinds` that makes the target in a folder.

    A target must refuse, by name and without effect, an operation that needs an undeclared
    capability.
    """

    name: ClassVar[str]
    # True if the brokers run on when the target is stopped: external ones do, ours end.
    accepts_when_stopped: ClassVar[bool] = False

    @classmethod
    @contextmanager
    def made(cls, folder: Path) -> Iterator[Target]:
        """The target, not started; nothing of it is left afterwards."""
        target: Target = getattr(kinds, cls.name)(folder)
        try:
            yield target
        finally:
            target.stop()

    @pytest.fixture(scope="class")
    @classmethod
    def asked(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
        """One target for all tests that do it no lasting harm."""
        with cls.made(tmp_path_factory.mktemp(cls.name)) as target:
            yield Asked(target)

    @pytest.fixture
    def victim(self, tmp_path: Path) -> Iterator[Asked]:
        """A target for one test alone."""
        with self.made(tmp_path) as target:
            yield Asked(target)

    # -- what leaves no trace ------------------------------------------------------------------

    def test_every_node_has_address_and_is_alive(self, asked: Asked) -> None:
        target = asked.target
        assert len(target.nodes) == len(target.addresses) == len(set(target.nodes))
        for node, address in zip(target.nodes, target.addresses, strict=True):
            assert target.address_of(node) == address
            assert target.node_is_alive(node)

    def test_operation_on_unknown_node_raises_target_error(self, asked: Asked) -> None:
        target = asked.target
        declared = [name for name in ON_A_NODE if name in target.capabilities]
        for operation in (each for name in declared for each in ON_A_NODE[name]):
            with pytest.raises(TargetError, match=f"no broker {NOBODY}"):
                operation(target, NOBODY)
        with pytest.raises(TargetError, match=str(asked.node)):
            target.address_of(NOBODY)

    def test_paused_node_is_silent_until_resumed(self, asked: Asked) -> None:
        if asked.lacks(PAUSE_NODE):
            return
        target, node = asked.target, asked.node
        with asked.connect() as connection:
            target.pause_node(node)
            try:
                target.pause_node(node)
                assert target.node_is_alive(node)
                asked.ask(connection)
                connection.expect_silence(SILENCE_MS)
            finally:
                target.resume_node(node)
            connection.receive()
            target.resume_node(node)
            asked.ask(connection)
            connection.receive()

    def test_disconnected_node_answers_again_after_reconnect(self, asked: Asked) -> None:
        if asked.lacks(DISCONNECT_NODE):
            return
        target, node = asked.target, asked.node
        target.disconnect_node(node)
        try:
            with pytest.raises(BrokerMisbehaved):
                Connection(target.address_of(node), timeout_ms=SILENCE_MS).ask(
                    MetadataRequest(topics=[]), asked.info.api_versions[METADATA][0]
                )
        finally:
            target.reconnect_node(node)
        await_that(asked.answers, "it does not answer after it was joined again")

    def test_logs_of_every_node_are_readable(self, asked: Asked) -> None:
        if asked.lacks(LOGS):
            return
        for node in asked.target.nodes:
            assert asked.target.logs(node).strip()

    def test_log_directories_contain_partition_folder(self, asked: Asked) -> None:
        if asked.lacks(LOG_DIRECTORY):
            return
        name = asked.make_topic()
        self.await_partition(asked, name)

    @staticmethod
    def await_partition(asked: Asked, topic: str) -> None:
        target = asked.target
        folders = [each for node in target.nodes for each in target.log_directories(node)]
        assert all(folder.is_dir() for folder in folders)
        await_that(
            lambda: any((folder / f"{topic}-0").is_dir() for folder in folders),
            f"no folder {topic}-0 in {folders}",
        )

    def test_virtual_broker_joins_cluster_and_isr(self, asked: Asked) -> None:
        client = asked.target.peer_endpoint
        if JOIN_AS_BROKER not in asked.target.capabilities:
            assert client is None
            return
        assert client is not None
        broker = asked.client()
        try:
            with JoinedCluster(client, broker, asked.target.nodes[0]) as cluster:
                partition = cluster.partition([cluster.join()])
                assert partition.state().isr == tuple(sorted(partition.replicas))
        finally:
            broker.close()

    def test_private_broker_is_independent_of_target(self, asked: Asked) -> None:
        if asked.lacks(OWN_BROKER):
            return
        target = asked.target
        with target.start_another() as mine:
            assert mine.is_alive()
            assert not set(mine.addresses) & set(target.addresses)
            assert mine.log_path != target.log_path
        assert target.is_alive(), "the private broker's end is its own"
        assert asked.answers()

    def test_private_broker_starts_with_settings(self, asked: Asked) -> None:
        if asked.lacks(OWN_BROKER, BROKER_CONFIG):
            return
        with asked.target.start_another(SETTING) as mine:
            assert mine.is_alive()

    def test_persistent_private_broker_keeps_data_across_restarts(self, asked: Asked) -> None:
        if asked.lacks(OWN_BROKER):
            return
        mine = kept_beside(asked.target)
        if mine is None:
            assert not asked.target.capabilities.issuperset(KEPT)
            return
        with mine:
            assert mine.capabilities.issuperset(KEPT)
            (node,), addresses = mine.nodes, list(mine.addresses)
            folders = mine.log_directories(node)
            (folders[0] / "left-by-a-test").touch()
            for end in (mine.kill_node, mine.stop_node):
                end(node)
                assert not accepts(addresses[0])
                mine.restart_node(node)
                assert (mine.addresses, mine.log_directories(node)) == (addresses, folders)
                assert accepts(addresses[0])
                assert (folders[0] / "left-by-a-test").exists()

    def test_cut_link_is_silent_until_healed(self, asked: Asked) -> None:
        if asked.lacks(OWN_BROKER, LINKS):
            return
        told: list[Event] = []
        with asked.target.start_another(links=True, tell=told.append) as mine:
            (node,) = mine.nodes
            link = mine.links["client", node]
            with Connection(mine.address_of(node), timeout_ms=ANSWER_MS) as connection:
                link.cut()
                asked.ask(connection)
                connection.expect_silence(SILENCE_MS)
                link.heal()
                connection.receive()
            assert [(event.what, event.link) for event in told] == [
                ("cut", f"client->{node}"),
                ("healed", f"client->{node}"),
            ]

    # -- what ends a node ----------------------------------------------------------------------

    @pytest.mark.parametrize("capability", [STOP_NODE, KILL_NODE])
    def test_ended_node_closes_connections_and_restarts(
        self, victim: Asked, capability: str
    ) -> None:
        if victim.lacks(capability):
            return
        target, node, (end,) = victim.target, victim.node, ON_A_NODE[capability]
        address = target.address_of(node)
        topic = victim.make_topic() if RESTART_NODE in target.capabilities else ""
        with victim.connect() as connection:
            end(target, node)
            assert not target.node_is_alive(node)
            assert victim.closes(connection)
        assert not accepts(address)
        assert [each for each in target.nodes if target.node_is_alive(each)] == [
            each for each in target.nodes if each != node
        ], "the others run on"
        end(target, node)  # twice is fine
        if PAUSE_NODE in target.capabilities:
            with pytest.raises(TargetError):
                target.pause_node(node)
            target.resume_node(node)
        if RESTART_NODE in target.capabilities:
            self.comes_back(victim, address, topic)

    def comes_back(self, victim: Asked, address: Address, topic: str) -> None:
        target, node = victim.target, victim.node
        target.restart_node(node)
        assert target.node_is_alive(node)
        assert target.address_of(node) == address
        assert victim.answers()
        await_that(lambda: topic in victim.topics(), f"{topic} is not there after the restart")
        if LOG_DIRECTORY in target.capabilities:
            self.await_partition(victim, topic)

    def test_restart_of_running_node_keeps_address_and_topics(self, victim: Asked) -> None:
        if victim.lacks(RESTART_NODE):
            return
        address = victim.target.address_of(victim.node)
        topic = victim.make_topic()
        with victim.connect() as connection:
            victim.target.restart_node(victim.node)
            assert victim.closes(connection)
        self.comes_back(victim, address, topic)

    def test_stop_ends_paused_node(self, victim: Asked) -> None:
        if victim.lacks(PAUSE_NODE):
            return
        target = victim.target
        target.pause_node(victim.node)
        addresses = list(target.addresses)
        target.stop()
        assert not target.is_alive()
        assert {accepts(each) for each in addresses} == {self.accepts_when_stopped}
