"""What an access file grants for one node of somebody else's cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import tomlkit

from harness.targets.errors import MissingCapability, TargetError, TargetStartError
from harness.targets.external import ExternalBroker
from harness.targets.reference import ReferenceBroker
from harness.targets.spec import parse_target
from tests.targets.kinds import ROOT

CONTROL = """
import os, signal, subprocess, sys
word, port, folder = sys.argv[1:]
pid_file = f"{folder}/pid"
def tell(number):
    os.kill(int(open(pid_file).read()), number)
if word == "restart":
    log = open(f"{folder}/broker.log", "ab")
    command = [sys.executable, "-m", "harness.cli", "broker", "--port", port]
    child = subprocess.Popen(command, cwd=%r, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    open(pid_file, "w").write(str(child.pid))
else:
    tell({"stop": signal.SIGTERM, "kill": signal.SIGKILL,
          "pause": signal.SIGSTOP, "resume": signal.SIGCONT}[word])
"""


class Owner:
    """Somebody who runs a broker, and the access file that they hand out."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.control = folder / "control.py"
        self.control.write_text(CONTROL % str(ROOT), "utf-8")
        self.path = folder / "access.toml"
        self.limits = {"command_timeout_ms": 20_000, "answer_timeout_ms": 30_000}
        self.commands = {
            word: [sys.executable, str(self.control), word, "{port}", str(folder)]
            for word in ("stop", "kill", "restart", "pause", "resume")
        }
        (folder / "data-1").mkdir()

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def target(self, **commands: list[str] | None) -> ExternalBroker:
        """With other commands in place of the owner's own; None takes one away."""
        given = {word: line for word, line in {**self.commands, **commands}.items() if line}
        values = {
            "release": "1",
            "commands": given,
            "log_directories": {"1": ["data-1"]},
            "logs": {"file": "broker.log"},
            "limits": self.limits,
        }
        self.path.write_text(tomlkit.dumps(values), "utf-8")
        target = parse_target(f"external:localhost:{self.port},profile={self.path}")
        assert isinstance(target, ExternalBroker)
        return target


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    with ReferenceBroker(log_dir=tmp_path / "logs") as borrowed:
        port = borrowed.addresses[0].port
        node = 1
    owner = Owner(tmp_path, port)
    starting = owner.target()
    starting.nodes, starting.addresses = [node], starting.bootstrap
    starting.restart_node(node)
    try:
        yield owner
    finally:
        process = psutil.Process(owner.pid) if psutil.pid_exists(owner.pid) else None
        if process is not None:
            process.kill()
            process.wait()


def test_a_node_is_stopped_killed_paused_and_comes_back(owner: Owner) -> None:
    with owner.target() as target:
        (node,) = target.nodes
        assert target.address_of(node).port == owner.port
        for end in (target.stop_node, target.kill_node):
            end(node)
            assert not target.node_is_alive(node)
            target.restart_node(node)
            assert target.node_is_alive(node)
        target.pause_node(node)
        assert not target.is_alive()
        assert target.node_is_alive(node), "a paused one counts as alive"
        target.resume_node(node)
        assert target.is_alive()


def test_what_a_test_left_is_brought_back(owner: Owner) -> None:
    for do in ("stop_node", "pause_node"):
        target = owner.target()
        target.start()
        getattr(target, do)(target.nodes[0])
        target.stop()
        with owner.target() as again:
            assert again.is_alive()


def test_a_node_that_cannot_be_brought_back(owner: Owner) -> None:
    target = owner.target(restart=None)
    target.start()
    target.stop_node(target.nodes[0])
    with pytest.raises(TargetStartError, match=r"has no commands\.restart to bring it back"):
        target.stop()
    assert target.addresses == []


FAILS = "print('no such unit'); exit(5)"
HANGS = "import signal; print('hm', flush=True); signal.pause()"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-program-here"], "cannot be run: No such file"),
        ([sys.executable, "-c", FAILS], "with exit code 5; it said:\n    no such unit"),
        ([sys.executable, "-c", HANGS], "did not end within 3000 ms; it said:\n"),
        ([sys.executable, "-c", ""], "ended well, but node 1 still answers"),
    ],
    ids=["none", "fails", "hangs", "does nothing"],
)
def test_a_command_that_does_not_do(owner: Owner, words: list[str], said: str) -> None:
    owner.limits = {"command_timeout_ms": 3000, "answer_timeout_ms": 300}
    target = owner.target(stop=words)
    target.start()
    with pytest.raises(TargetStartError) as caught:
        target.stop_node(1)
    assert said in str(caught.value)
    assert f"{owner.path}: commands.stop" in str(caught.value)
    assert words not in [child.cmdline() for child in psutil.Process().children()]


def test_a_node_that_does_not_come_back(owner: Owner) -> None:
    owner.limits = {"command_timeout_ms": 20_000, "answer_timeout_ms": 400}
    target = owner.target(restart=[sys.executable, "-c", ""])
    target.start()
    target.kill_node(1)
    with pytest.raises(TargetStartError, match=r"did not come back: .* within 400 ms"):
        target.restart_node(1)


def test_folders_and_logs(owner: Owner) -> None:
    with owner.target() as target:
        assert target.log_directories(1) == [owner.folder / "data-1"]
        assert f"listening on 127.0.0.1:{owner.port}" in target.logs(1)
        assert str(target.log_path) == str(owner.folder / "broker.log")
        with pytest.raises(TargetError, match="has no broker 7; its brokers: 1"):
            target.logs(7)
        (owner.folder / "data-1").rmdir()
        with pytest.raises(TargetError, match=r"data-1 is no folder that we can see"):
            target.log_directories(1)
        (owner.folder / "broker.log").unlink()
        assert target.log_path is None
        with pytest.raises(TargetError, match=r"logs\.file: .* cannot be read: No such file"):
            target.logs(1)


def test_what_is_not_granted(owner: Owner) -> None:
    with pytest.raises(MissingCapability) as caught:
        owner.target().disconnect_node(1)
    assert caught.value.capability == "disconnect_node"


def test_an_address_that_is_no_node(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.external_nodes._hosts", lambda address: {address.host})
    with pytest.raises(TargetStartError) as caught:
        owner.target().start()
    assert f"which node is at localhost:{owner.port} is not known" in str(caught.value)
    assert f"1 at 127.0.0.1:{owner.port}" in str(caught.value)
