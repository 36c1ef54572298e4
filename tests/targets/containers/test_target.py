"""Properties that only a broker in a container has."""

from __future__ import annotations

import socket
from pathlib import Path

import psutil
import pytest

from harness.targets.asking import ask_api_versions
from harness.targets.containers import target as target_module
from harness.targets.containers.daemon import connect
from harness.targets.containers.ownership import OWNER_PID, RUN, owner_labels
from harness.targets.containers.target import DockerTarget
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.ports import free_ports
from harness.targets.target import BROKER_CONFIG, PAUSE_NODE, RESTART_NODE
from labs.awaiting import await_that
from tests.targets.containers import images
from tests.targets.containers.images import docker_target
from tests.targets.containers.own_daemon import Daemon

pytestmark = pytest.mark.usefixtures("at_images")
SLEEP = f"{images.PLAIN},command=python3 -c 'import time; time.sleep(600)'"
BROKER = (
    "python3 -P -m harness.cli broker --host {listen_host} --port {listen_port} "
    "--setting advertised.listeners=PLAINTEXT://{host}:{port}"
)


def containers() -> int:
    client = connect()
    try:
        return len(client.containers.list(all=True, filters={"label": RUN}))
    finally:
        client.close()


def test_foreign_image_runs_with_command_and_environment_options(tmp_path: Path) -> None:
    rest = f"{images.PLAIN},port=7001,env.PYTHONUNBUFFERED=1,command={BROKER}"
    with docker_target(rest, tmp_path) as target:
        assert (target.implementation, target.release) == ("plain", "3")
        assert PAUSE_NODE in target.capabilities
        assert not {BROKER_CONFIG, RESTART_NODE} & target.capabilities, "its label names none"
        assert f"listening on {target.addresses[0]}" in target.logs(target.nodes[0])
    assert containers() == 0


def test_settings_reach_private_broker_in_container(tmp_path: Path) -> None:
    settings = {"node.id": "7", "broker.rack": "a b,c=d"}
    with docker_target(images.REFERENCE, tmp_path) as target:
        assert target.nodes == [1]
        with target.start_another(settings) as mine:
            assert mine.nodes == [7]


def test_broker_that_ends_at_start_raises_target_start_error_with_log(tmp_path: Path) -> None:
    target = DockerTarget(
        docker_target(images.REFERENCE, tmp_path).options,
        log_dir=tmp_path,
        settings={"no.such.setting": "1"},
    )
    with pytest.raises(TargetStartError) as caught:
        target.start()
    said = str(caught.value)
    assert "ended before it answered, with status 2" in said
    assert "unknown broker setting 'no.such.setting'" in said
    assert target.log_path is not None
    assert str(target.log_path) in said
    assert "no.such.setting" in target.log_path.read_text(), "the log stays"
    assert containers() == 0


def test_missing_program_in_image_raises_target_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"refuses to start the container: .*no-such-program"):
        docker_target(f"{images.PLAIN},command=no-such-program", tmp_path).start()
    assert containers() == 0


def test_accepting_published_port_without_broker_is_start_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted: list[bool] = []

    def look(self: DockerTarget) -> None:
        assert self._place is not None
        try:
            socket.create_connection((self._place.host, self._place.port), 5).close()
            accepted.append(True)
        except OSError:
            accepted.append(False)

    monkeypatch.setattr(DockerTarget, "_check_running", look)
    with pytest.raises(TargetStartError, match="does not answer as a Kafka broker within 3000 ms"):
        docker_target(SLEEP, tmp_path, start_timeout_ms=3000).start()
    assert any(accepted), "the case that this is about"
    assert containers() == 0


@pytest.mark.parametrize("network", ["published", "host"])
def test_start_on_taken_port_retries_with_other_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str
) -> None:
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", 0))
        thief.listen()
        taken = thief.getsockname()[1]
        choices = [[taken, *free_ports(1)], free_ports(2)]
        monkeypatch.setattr(target_module, "free_ports", lambda _: choices.pop(0))
        with docker_target(f"{images.REFERENCE},network={network}", tmp_path) as target:
            assert target.addresses[0].port != taken
    assert not choices
    assert containers() == 0


def test_start_fails_after_five_taken_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", 0))
        thief.listen()
        taken = thief.getsockname()[1]
        monkeypatch.setattr(target_module, "free_ports", lambda _: [taken, taken])
        with pytest.raises(TargetStartError, match=rf"5 starts failed: .*{taken}"):
            docker_target(images.REFERENCE, tmp_path).start()
    assert containers() == 0


def test_log_contains_each_start_once(tmp_path: Path) -> None:
    with docker_target(images.KAFKA, tmp_path) as target:
        target.kill_node(target.nodes[0])
        target.restart_node(target.nodes[0])
        log = target.log_path
    assert log is not None
    assert log.read_text().count("Kafka Server started") == 2


def test_next_start_removes_container_of_killed_run(tmp_path: Path, at_images: Daemon) -> None:
    client = connect()
    child = psutil.Popen(["true"])
    child.wait()
    labels = {**owner_labels("gone"), OWNER_PID: str(child.pid)}
    command = ["python3", "-c", "import time; time.sleep(600)"]
    left = client.containers.run(
        images.PLAIN, command, labels=labels, detach=True, network_mode="none"
    )
    try:
        with docker_target(images.REFERENCE, tmp_path):
            assert left.id not in {each.id for each in client.containers.list(all=True)}
    finally:
        client.close()


def test_removed_container_is_detected_as_dead(tmp_path: Path) -> None:
    with docker_target(images.REFERENCE, tmp_path) as target:
        client = connect()
        (container,) = client.containers.list(filters={"label": RUN})
        container.remove(force=True)
        client.close()
        await_that(lambda: not target.is_alive(), "it is not seen that the container is gone")
        with pytest.raises(TargetError, match="No such container"):
            target.kill_node(target.nodes[0])


def test_disconnected_and_killed_container_broker_restarts(tmp_path: Path) -> None:
    with docker_target(images.KAFKA, tmp_path) as target:
        node = target.nodes[0]
        target.disconnect_node(node)
        target.disconnect_node(node)
        target.reconnect_node(node)
        target.reconnect_node(node)
        target.kill_node(node)
        target.restart_node(node)
        assert ask_api_versions(target.addresses[0], 10_000)
