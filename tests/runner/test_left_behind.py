"""After a run no process and no temporary folder is left; its data only where that is wanted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from harness.conformance.journal import JOURNAL_NAME
from harness.targets.kafka.zookeeper import PIN
from labs.awaiting import await_that
from tests.targets import kinds

MARK = "KAFKA_CONFORMANCE_TEST_MARK"
LIMIT_S = 300


@dataclass
class Place:
    """A folder for a run, with a temporary folder of its own; its processes bear a mark."""

    folder: Path

    def __post_init__(self) -> None:
        self.temporary.mkdir()

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def command(self, target: str, requirement: str, *options: str) -> list[str]:
        words = [sys.executable, "-P", "-m", "harness.cli", "run", "--target", target]
        return [*words, "--requirement", requirement, "--out", str(self.out), *options]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.temporary), MARK: str(self.folder)}

    def processes(self) -> list[psutil.Process]:
        """Return all processes that were started in this place, also orphans."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(MARK) == str(self.folder)
        except psutil.Error:
            return False

    def left(self) -> list[str]:
        return sorted(path.name for path in self.temporary.iterdir())

    def data(self) -> list[Path]:
        """Return the data folders that were kept."""
        return sorted(self.out.glob("runs/*/data/*"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    try:
        yield place
    finally:
        for process in place.processes():
            process.kill()


def _run(place: Place, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        place.command(*words),
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _partitions(folders: list[Path]) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("meta.properties")]


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_run_with_zookeeper_leaves_no_process_folder_or_data(place: Place) -> None:
    kinds.need_kafka(kinds.KAFKA_ZK, PIN)
    ended = _run(place, f"kafka:{kinds.KAFKA_ZK},mode=zk", "META-017")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert place.processes() == []
    assert place.left() == []
    assert place.data() == []
    assert "are kept in" not in ended.stdout


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("--keep",)], ids=["", "keep"])
def test_killed_run_with_zookeeper_leaves_only_kept_data(
    place: Place, options: tuple[str, ...]
) -> None:
    """ZooKeeper, the broker, pytest, their wardens and the keeper of the folder: all are gone."""
    kinds.need_kafka(kinds.KAFKA_ZK, PIN)
    command = place.command(f"kafka:{kinds.KAFKA_ZK},mode=zk", "META-*", *options)
    running = subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL)
    try:
        await_that(
            lambda: any(
                '"type": "check"' in journal.read_text()
                for journal in place.out.glob(f"runs/*/{JOURNAL_NAME}")
            ),
            "the run does not get going",
        )
        mains = [word for process in place.processes() for word in process.cmdline()]
        assert "kafka.Kafka" in mains
        assert any("ZooKeeperServerMain" in word for word in mains)
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    await_that(lambda: not place.processes(), "processes are left")
    assert place.left() == []
    assert bool(_partitions(place.data())) is bool(options)


@pytest.mark.rotates(8)
def test_run_with_keep_reports_folder_of_kept_data(place: Place) -> None:
    file = kinds.write_command_file(place.folder)
    ended = _run(place, f"command:{file}", "CONN-001", "--keep")
    (folder,) = place.data()
    assert f"the data folders of its brokers are kept in {folder.parent}" in ended.stdout
    assert place.left() == []
    assert place.processes() == []


@pytest.mark.rotates(8)
def test_run_with_keep_of_target_without_data_keeps_nothing(place: Place) -> None:
    ended = _run(place, "reference", "CONN-001", "--keep")
    assert ended.returncode == 0, ended.stdout
    assert "are kept in" not in ended.stdout
    assert place.left() == []
