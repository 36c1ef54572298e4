"""The contract of every target, on both images and both networks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.base.address import Address
from harness.targets.asking import ask_api_versions
from harness.targets.containers.daemon import connect
from harness.targets.containers.ownership import RUN
from harness.targets.containers.target import DockerTarget
from harness.targets.not_answered import NotAnswered
from harness.targets.target import Target
from labs.awaiting import await_that
from tests.targets import contract, kinds
from tests.targets.contract import GONE_TIMEOUT_S, PARENT, TargetContract


def has_ended(process: psutil.Process) -> bool:
    """True if the process has ended, even if its parent has not read its status yet."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def containers() -> set[str]:
    """The ids of all containers that any run of this project has made."""
    client = connect()
    try:
        found = client.containers.list(all=True, filters={"label": RUN}, ignore_removed=True)
        return {str(each.id) for each in found}
    finally:
        client.close()


def pid_here(target: DockerTarget) -> int:
    """The broker's process id in our namespace; the daemon may have another one."""
    client = connect()
    try:
        running = client.containers.list()
    finally:
        client.close()
    (found,) = [each for each in running if each.attrs["State"]["Pid"] == target.pid_at_daemon]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_of_it = str(found.id) in (process / "cgroup").read_text()
            status = (process / "status").read_text()
        except OSError:  # it has ended meanwhile
            continue
        if is_of_it and re.search(r"^NSpid:.*\t1$", status, re.MULTILINE):
            return int(process.name)
    raise AssertionError(f"no process of container {found.id}")


def ours() -> list[psutil.Process]:
    """Every process below this one, in its pid namespace."""
    here = Path("/proc/self/ns/pid").readlink()
    return [each for each in psutil.Process().children(recursive=True) if namespace(each) == here]


def namespace(process: psutil.Process) -> Path | None:
    try:
        return Path(f"/proc/{process.pid}/ns/pid").readlink()
    except OSError:  # it has ended meanwhile
        return None


@pytest.mark.usefixtures("at_images")
class ContainerContract(TargetContract):
    """Contract of a container: the daemon, not the test, is the parent of the broker."""

    @pytest.fixture(autouse=True)
    def _without_the_daemon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A private daemon is below the test too, with all its processes, in a pid namespace."""
        monkeypatch.setattr(contract, "family", ours)

    def test_death_of_broker_is_detected(self, target: Target) -> None:
        target.start()
        assert isinstance(target, DockerTarget)
        psutil.Process(pid_here(target)).kill()
        assert self.dies(target)
        said = target.describe_failure()
        assert said is not None
        assert "137" in said
        assert str(target.log_path) in said

    def test_kill_of_parent_ends_broker_and_leaves_nothing_but_log(self, tmp_path: Path) -> None:
        before = containers()
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, self.name, str(tmp_path)],
            cwd=kinds.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert parent.stdout is not None
        said = json.loads(parent.stdout.readline())
        members = psutil.Process(parent.pid).children(recursive=True)
        assert members, "a guard"
        assert len(containers() - before) == 1
        parent.kill()
        parent.communicate()
        _, alive = psutil.wait_procs(members, timeout=GONE_TIMEOUT_S)
        assert not alive
        assert containers() == before
        with pytest.raises(NotAnswered):
            ask_api_versions(Address("127.0.0.1", said["port"]), 5000)
        (log,) = tmp_path.glob("*.log")
        assert log.stat().st_size > 0, "the log stays"

    def test_stop_after_killed_guard_leaves_no_container(self, target: Target) -> None:
        before, family = containers(), set(ours())
        target.start()
        (guard,) = set(ours()) - family
        guard.kill()
        await_that(lambda: has_ended(guard), "the guard has ended")
        target.stop()
        assert containers() == before


class TestReferencePublished(ContainerContract):
    name = "docker_reference"


class TestReferenceOnHostNetwork(ContainerContract):
    name = "docker_reference_host"


class TestKafkaPublished(ContainerContract):
    name = "docker_kafka"


class TestKafkaOnHostNetwork(ContainerContract):
    name = "docker_kafka_host"
