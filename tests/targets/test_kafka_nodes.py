"""Nodes of Kafka: samples of all eras, control of one node, clusters, ZooKeeper."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.targets.asking import ask_api_versions
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kafka.target import KafkaTarget
from harness.targets.kafka.zookeeper import PIN
from harness.targets.not_answered import NotAnswered
from harness.targets.target import Target
from labs.hang_limit import HANGS_AFTER_S
from tests.targets import kinds
from tests.targets.round_trip import Talk, eventually, round_trip
from tests.targets.taken_once import TakenOnce

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
ZK_RELEASE = "3.9.2"
GONE_TIMEOUT_S = HANGS_AFTER_S


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("release", "mode"),
    [("0.8.2.2", "zk"), ("0.10.2.2", "zk"), ("2.8.2", "zk"), ("2.8.2", "kraft"), ("4.4.0", None)],
)
def test_round_trip_succeeds_on_release_of_each_era(
    release: str, mode: str | None, tmp_path: Path
) -> None:
    kinds.need_kafka(release, PIN)
    with KafkaTarget(release, mode=mode, log_dir=tmp_path) as target:
        assert target.nodes == [1]
        assert (target.zookeeper is not None) == (mode == "zk")
        round_trip(target)


def control(target: Target) -> None:
    """Apply all operations for one node to the last node of a started target."""
    talk, node, topic = Talk(target), target.nodes[-1], "kept"
    address = target.address_of(node)
    talk.write(topic, b"before", address)
    target.pause_node(node)
    target.pause_node(node)
    assert target.node_is_alive(node)
    with pytest.raises(NotAnswered):
        ask_api_versions(address, 500)
    target.resume_node(node)
    target.resume_node(node)
    eventually(lambda: answers(target, node), "the node answers after the pause")
    target.kill_node(node)
    assert not target.node_is_alive(node)
    assert target.describe_failure() is None, "it was our doing"
    with pytest.raises(TargetError, match="cannot be paused: it does not run"):
        target.pause_node(node)
    target.restart_node(node)
    assert target.is_alive()
    assert target.address_of(node) == address
    talk.await_values(topic, [b"before"], address)
    target.stop_node(node)
    assert not target.node_is_alive(node)
    assert "shutting down" in target.logs(node)
    target.restart_node(node)
    talk.write(topic, b"after", address)
    talk.await_values(topic, [b"before", b"after"], address)
    stored = {each.name for folder in target.log_directories(node) for each in folder.iterdir()}
    assert f"{topic}-0" in stored


def answers(target: Target, node: int) -> bool | None:
    try:
        ask_api_versions(target.address_of(node), 1000)
    except NotAnswered:
        return None
    return True


@pytest.mark.sample(4)
@pytest.mark.parametrize(("release", "mode"), [("4.4.0", "kraft"), (ZK_RELEASE, "zk")])
def test_single_node_is_paused_killed_stopped_and_restarted(
    release: str, mode: str, tmp_path: Path
) -> None:
    kinds.need_kafka(release, PIN)
    with KafkaTarget(release, mode=mode, log_dir=tmp_path) as target:
        control(target)
        with pytest.raises(TargetError, match="has no broker 2; its brokers: 1"):
            target.kill_node(2)


@pytest.mark.deep
@pytest.mark.parametrize(("release", "mode"), [("4.4.0", "kraft"), ("0.10.2.2", "zk")])
def test_cluster_nodes_are_controlled_and_logged_separately(
    release: str, mode: str, tmp_path: Path
) -> None:
    kinds.need_kafka(release, PIN)
    with KafkaTarget(release, mode=mode, nodes=3, log_dir=tmp_path) as target:
        assert target.nodes == [1, 2, 3]
        round_trip(target)
        control(target)
        names = {each.name for each in tmp_path.glob("*.log")}
        assert target.log_path == tmp_path / f"kafka-{release}-broker-1.log"
    beside = "controller" if mode == "kraft" else "zookeeper"
    wanted = ["broker-1", "broker-2", "broker-3", beside]
    assert names == {f"kafka-{release}-{name}.log" for name in wanted}


@pytest.mark.deep
def test_killed_controller_quorum_restarts(tmp_path: Path) -> None:
    """A stopped majority comes back although the first node of it finds no other."""
    kinds.need_kafka("4.4.0")
    with KafkaTarget("4.4.0", nodes=2, controllers=3, log_dir=tmp_path) as target:
        assert (target.nodes, target.controller_nodes) == ([1, 2], (100, 101, 102))
        assert target.peer_endpoint is None
        target.pause_node(100)
        target.resume_node(100)
        for node in target.controller_nodes:
            target.kill_node(node)
        assert [target.node_is_alive(node) for node in target.controller_nodes] == [False] * 3
        for node in target.controller_nodes:
            target.restart_node(node)
        round_trip(target)
        target.stop_node(101)
        assert target.is_alive()
        target.restart_node(101)
        with pytest.raises(TargetError, match="has no broker 103; its brokers: 1, 2"):
            target.kill_node(103)
    names = {each.name for each in tmp_path.glob("*.log")}
    assert {f"kafka-4.4.0-controller-{node}.log" for node in (100, 101, 102)} <= names


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("release", "mode", "place"),
    # The broker's port and that of the quorum; 0.10.0 hangs at the end of a start that failed.
    [("0.10.0.1", "zk", 0), (ZK_RELEASE, "zk", 1), ("2.8.2", "kraft", 1)],
)
def test_start_on_taken_port_retries_with_other_ports(
    release: str, mode: str, place: int, tmp_path: Path
) -> None:
    kinds.need_kafka(release, PIN)
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = TakenOnce(other.getsockname()[1], place)
        with KafkaTarget(
            release,
            mode=mode,
            log_dir=tmp_path,
            choose_ports=ports,
        ) as target:
            assert target.is_alive()
    assert len(ports.chosen) >= 2


def test_death_of_zookeeper_is_detected_and_described(tmp_path: Path) -> None:
    kinds.need_kafka(ZK_RELEASE, PIN)
    with KafkaTarget(ZK_RELEASE, mode="zk", log_dir=tmp_path) as target:
        (process,) = (each for each in psutil.Process().children(recursive=True) if is_zoo(each))
        process.kill()
        eventually(lambda: None if target.is_alive() else True, "the target sees it")
        said = target.describe_failure()
    assert said is not None
    assert said.startswith(f"the ZooKeeper of Apache Kafka {ZK_RELEASE} ended, with status 137")


def is_zoo(process: psutil.Process) -> bool:
    try:
        words = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return words[0].endswith("java") and any("ZooKeeperServerMain" in word for word in words)


def test_failed_zookeeper_mode_start_leaves_no_zookeeper(tmp_path: Path) -> None:
    kinds.need_kafka(ZK_RELEASE, PIN)
    target = KafkaTarget(
        ZK_RELEASE, mode="zk", log_dir=tmp_path, settings={"num.io.threads": "none"}
    )
    with pytest.raises(
        TargetStartError, match=r"(?s)ended before it answered.*num\.io\.threads"
    ) as e:
        target.start()
    assert str(target.log_path) in str(e.value)
    assert target.data_dir is None
    assert not [each for each in psutil.Process().children(recursive=True) if is_zoo(each)]


def test_too_small_heap_raises_target_start_error(tmp_path: Path) -> None:
    kinds.need_kafka()
    with pytest.raises(TargetStartError, match="Too small maximum heap"):
        KafkaTarget(kinds.KAFKA, heap="100k", log_dir=tmp_path).start()


PARENT = """
import sys
from pathlib import Path
from harness.targets.ports import free_ports
from harness.targets.kafka.target import KafkaTarget
target = KafkaTarget("{release}", mode="zk", log_dir=Path(sys.argv[1]))
target.start()
target.pause_node(1)
print(target.data_dir, flush=True)
sys.stdin.read()
"""


def test_killed_parent_ends_paused_node_and_removes_data(tmp_path: Path) -> None:
    kinds.need_kafka(ZK_RELEASE, PIN)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(release=ZK_RELEASE), str(tmp_path)],
        cwd=kinds.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    data_dir = Path(parent.stdout.readline().strip())
    assert data_dir.is_dir()
    members = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    _, alive = psutil.wait_procs(members, timeout=GONE_TIMEOUT_S)
    assert not alive
    assert not data_dir.exists()
