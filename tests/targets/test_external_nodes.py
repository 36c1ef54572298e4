"""Capabilities that an access file grants for one node of an external cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.targets.errors import MissingCapability, TargetError, TargetStartError
from tests.targets.owner import Owner

pytestmark = pytest.mark.sample(4)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner(tmp_path)
    try:
        yield owner
    finally:
        owner.end()


def test_external_node_is_stopped_killed_paused_and_restored(owner: Owner) -> None:
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


def test_stop_of_target_restores_stopped_or_paused_node(owner: Owner) -> None:
    for do in ("stop_node", "pause_node"):
        target = owner.target()
        target.start()
        getattr(target, do)(target.nodes[0])
        target.stop()
        with owner.target() as again:
            assert again.is_alive()


def test_stopped_node_without_restart_command_raises_target_start_error(owner: Owner) -> None:
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
def test_ineffective_stop_command_raises_target_start_error(
    owner: Owner, words: list[str], said: str
) -> None:
    owner.limits = {"command_timeout_ms": 3000, "answer_timeout_ms": 300}
    target = owner.target(stop=words)
    target.start()
    with pytest.raises(TargetStartError) as caught:
        target.stop_node(1)
    assert said in str(caught.value)
    assert f"{owner.path}: commands.stop" in str(caught.value)
    assert words not in [child.cmdline() for child in psutil.Process().children()]


def test_restart_without_effect_raises_target_start_error(owner: Owner) -> None:
    owner.limits = {"command_timeout_ms": 20_000, "answer_timeout_ms": 400}
    target = owner.target(restart=[sys.executable, "-c", ""])
    target.start()
    target.kill_node(1)
    with pytest.raises(TargetStartError, match=r"did not come back: .* within 400 ms"):
        target.restart_node(1)


def test_log_directories_and_logs_are_read_or_raise_target_error(owner: Owner) -> None:
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


def test_operation_not_granted_raises_missing_capability(owner: Owner) -> None:
    with pytest.raises(MissingCapability) as caught:
        owner.target().disconnect_node(1)
    assert caught.value.capability == "disconnect_node"


def test_address_without_matching_node_raises_target_start_error(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.targets.external_nodes._hosts", lambda address: {address.host})
    with pytest.raises(TargetStartError) as caught:
        owner.target().start()
    assert f"which node is at localhost:{owner.port} is not known" in str(caught.value)
    assert f"1 at 127.0.0.1:{owner.port}" in str(caught.value)
