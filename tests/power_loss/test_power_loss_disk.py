"""The writes that a cut takes and leaves; and nothing of a disk outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.power_loss.power_loss_disk import DiskError, PowerLossDisk, is_possible, why_not
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import not_run

OWNER = """
import sys
from harness.power_loss.power_loss_disk import PowerLossDisk
disk = PowerLossDisk()
print(disk.path, flush=True)
sys.stdin.read()
"""
WITHIN_S = HANGS_AFTER_S


@pytest.fixture(autouse=True)
def can_lose_power() -> None:
    if not is_possible():
        not_run(why_not() or "no disk that loses power can be mounted here")


@pytest.fixture
def disk() -> Iterator[PowerLossDisk]:
    with PowerLossDisk() as made:
        yield made


def flushed(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def lost_and_back(disk: PowerLossDisk) -> None:
    disk.cut()
    disk.remount()


def test_flushed_write_survives_power_loss_and_later_write_is_lost(disk: PowerLossDisk) -> None:
    file = disk.path / "log"
    flushed(file, "flushed")
    with file.open("a") as more:
        more.write(" and not")
    lost_and_back(disk)
    assert file.read_text() == "flushed"


def test_unflushed_rename_is_undone_by_power_loss(disk: PowerLossDisk) -> None:
    file = disk.path / "before"
    flushed(file, "x")
    file.rename(disk.path / "after")
    lost_and_back(disk)
    assert [each.name for each in disk.path.iterdir() if each.is_file()] == ["before"]


def test_sync_keeps_earlier_writes_over_power_loss(disk: PowerLossDisk) -> None:
    (disk.path / "file").write_text("written")
    disk.sync()
    lost_and_back(disk)
    assert (disk.path / "file").read_text() == "written"


def test_writes_after_cut_fail_with_io_error(disk: PowerLossDisk) -> None:
    with (disk.path / "file").open("w") as file:
        disk.cut()
        with pytest.raises(OSError, match="Input/output error"):
            file.write("x" * 100_000)
    with pytest.raises(OSError, match="Input/output error"):
        (disk.path / "another").write_text("")


def test_full_disk_refuses_large_write_until_freed(disk: PowerLossDisk) -> None:
    disk.fill(left_bytes=100_000)
    (disk.path / "small").write_bytes(bytes(50_000))
    with pytest.raises(OSError, match="No space left on device"):
        (disk.path / "large").write_bytes(bytes(1 << 20))
    disk.free()
    assert (disk.path / "large").write_bytes(bytes(1 << 20)) == 1 << 20


def test_read_only_disk_refuses_writes_and_keeps_data(disk: PowerLossDisk) -> None:
    with (disk.path / "file").open("wb", buffering=0) as file:
        file.write(b"before")
        disk.become_read_only()
        with pytest.raises(OSError, match="Read-only file system"):
            file.write(b" and after")
        with pytest.raises(OSError, match="Read-only file system"):
            (disk.path / "another").touch()
        assert (disk.path / "file").read_bytes() == b"before"
    disk.remount()
    assert (disk.path / "file").read_bytes() == b"before"
    (disk.path / "another").touch()


def test_disk_keeps_flushed_data_over_repeated_power_losses(disk: PowerLossDisk) -> None:
    for number in range(5):
        flushed(disk.path / "log", str(number))
        lost_and_back(disk)
    assert (disk.path / "log").read_text() == "01234"


def test_remount_with_open_file_raises_disk_error(disk: PowerLossDisk) -> None:
    with (disk.path / "file").open("w"):
        disk.cut()
        with pytest.raises(DiskError, match=r"unmount: error .*busy"):
            disk.remount()
    disk.remount()


def test_cut_of_closed_disk_raises_disk_error(disk: PowerLossDisk) -> None:
    disk.close()
    disk.close()
    with pytest.raises(DiskError, match="the disk is closed: cut"):
        disk.cut()


def test_missing_mkfs_raises_disk_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(DiskError, match=r"it takes mkfs\.ext4"):
        PowerLossDisk()


def loops_of(scratch: str) -> list[str]:
    """Return the loop devices with a file that is, or was, in this folder."""
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    return [str(each) for each in files if scratch in each.read_text()]


def is_gone(path: Path) -> bool:
    holder, scratch = path.parts[2], Path("/", *path.parts[4:-1])
    return not (Path("/proc") / holder).exists() and not scratch.exists()


def test_killed_owner_leaves_no_mount_or_loop_device() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        path = Path(owner.stdout.readline().strip())
        assert path.is_dir()
        scratch = path.parts[-2]
        assert loops_of(scratch)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    end = time.monotonic() + WITHIN_S
    while (loops_of(scratch) or not is_gone(path)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not loops_of(scratch)
    assert is_gone(path)


def test_close_leaves_no_mount_or_loop_device() -> None:
    with PowerLossDisk() as disk:
        path = disk.path
        assert loops_of(path.parts[-2])
    assert is_gone(path)
    assert not loops_of(path.parts[-2])
