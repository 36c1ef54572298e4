"""Contract of every kind of target: one class, run once per kind."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from harness.base.address import Address
from harness.targets import fork_server
from harness.targets.asking import ask_api_versions
from harness.targets.errors import MissingCapability
from harness.targets.info import TargetInfo, probe
from harness.targets.process import Deadline
from harness.targets.target import Target
from labs.hang_limit import HANGS_AFTER_S
from tests.targets import kinds
from tests.targets.capability_contract import CapabilityContract, accepts
from tests.targets.power_contract import PowerContract

GONE_TIMEOUT_S = HANGS_AFTER_S

PARENT = """
import json, sys
from pathlib import Path
from tests.targets import kinds
target = getattr(kinds, sys.argv[1])(Path(sys.argv[2]))
target.start()
for node in target.nodes if "pause_node" in target.capabilities else ():
    target.pause_node(node)
print(json.dumps({"port": target.addresses[0].port,
                  "data": str(getattr(target, "data_dir", None) or "")}), flush=True)
sys.stdin.read()
"""


def family() -> list[psutil.Process]:
    """Every process below this one, but for its fork server: that one belongs to no target."""
    this = psutil.Process()
    return [each for each in this.children(recursive=True) if not _is_fork_server(each, this.pid)]


def _is_fork_server(process: psutil.Process, caller: int) -> bool:
    """True for the server that forks the commands of ``caller``, from the first one on."""
    try:
        return process.ppid() == caller and fork_server.__name__ in process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


class TargetContract(CapabilityContract, PowerContract):
    """Contract of a target that we start. The author of a new kind runs this over it:

    1. a function in :mod:`tests.targets.kinds` that makes one in a folder, by name because it is
       made in another process too; everything that it needs to differ is in its capabilities;
    2. ``class TestMine(TargetContract): name = "mine"`` in ``test_contract.py``, with an autouse
       fixture of scope class that calls ``kinds.not_run`` if a program that it needs is missing.

    The class tests start and end. The base class :mod:`tests.targets.capability_contract` tries
    each declared capability for real; the target must refuse others with MissingCapability. A
    target of several processes may override ``victims``.
    """

    @pytest.fixture
    def target(self, tmp_path: Path) -> Iterator[Target]:
        target: Target = getattr(kinds, self.name)(tmp_path)
        try:
            yield target
        finally:
            target.stop()

    def test_target_starts_and_stops(self, target: Target) -> None:
        before = set(family())
        assert not target.is_alive()
        addresses = target.start()
        assert addresses
        for address in addresses:
            assert ask_api_versions(address, 5000)[18][0] == 0
        assert target.is_alive()
        assert target.start() == addresses, "a second start changes nothing"
        assert target.describe_failure() is None
        started = set(family()) - before
        log_path = target.log_path
        target.stop()
        assert not target.is_alive()
        assert not psutil.wait_procs(started, timeout=GONE_TIMEOUT_S)[1]
        assert not [each for each in addresses if accepts(each)]
        target.stop()
        assert log_path is not None
        assert log_path.stat().st_size > 0
        self.starts_again(target)

    @staticmethod
    def starts_again(target: Target) -> None:
        with target:
            info = probe(target)
        assert info.spec == target.spec
        assert info.time_scale >= 1.0
        assert TargetInfo.from_json(info.to_json()) == info

    def victims(self, target: Target) -> list[int]:
        """The processes that the test kills to end the target."""
        pid = getattr(target, "pid", None)
        assert pid is not None
        return [pid]

    def test_death_of_broker_is_detected(self, target: Target) -> None:
        target.start()
        for pid in self.victims(target):
            psutil.Process(pid).send_signal(signal.SIGKILL)
        assert self.dies(target)
        said = target.describe_failure()
        assert said is not None
        assert "137" in said
        assert str(target.log_path) in said

    @staticmethod
    def dies(target: Target) -> bool:
        deadline = Deadline(GONE_TIMEOUT_S * 1000)
        while target.is_alive() and deadline.left_ms():
            time.sleep(0.01)
        return not target.is_alive()

    def test_kill_of_parent_ends_broker_and_leaves_nothing_but_log(self, tmp_path: Path) -> None:
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
        assert len(members) >= 2, "a warden and a broker"
        parent.kill()
        parent.communicate()
        _, alive = psutil.wait_procs(members, timeout=GONE_TIMEOUT_S)
        assert not alive
        assert not accepts(Address("127.0.0.1", said["port"]))
        if said["data"]:
            assert not Path(said["data"]).exists()
        assert list(tmp_path.glob("*.log")), "the log stays"


class ExternalContract:
    """Contract of a broker that another party runs: it runs on.

    A CapabilityContract as second base tries the capabilities that its owner grants.
    """

    name: ClassVar[str]

    accepts_when_stopped = True

    @classmethod
    @contextmanager
    def owned(cls, folder: Path) -> Iterator[kinds.OwnedExternal]:
        owned: kinds.OwnedExternal = getattr(kinds, cls.name)(folder)
        try:
            yield owned
        finally:
            owned.shut_down()

    @classmethod
    @contextmanager
    def made(cls, folder: Path) -> Iterator[Target]:
        with cls.owned(folder) as owned, owned.target as target:
            yield target

    @pytest.fixture
    def target(self, tmp_path: Path) -> Iterator[Target]:
        with self.made(tmp_path) as target:
            target.stop()
            yield target

    def test_target_starts_and_stops(self, target: Target) -> None:
        assert not target.is_alive()
        addresses = target.start()
        assert target.is_alive()
        target.stop()
        target.stop()
        assert not target.is_alive()
        assert all(accepts(each) for each in addresses), "their broker runs on"

    def test_death_of_broker_is_detected(self, tmp_path: Path) -> None:
        with self.owned(tmp_path) as owned:
            owned.target.start()
            owned.shut_down()
            assert not owned.target.is_alive()

    def test_external_target_refuses_private_broker(self, target: Target) -> None:
        target.start()
        with pytest.raises(MissingCapability) as caught:
            target.start_another({})
        assert caught.value.capability == "own_broker"
