"""A file system of its own that can lose power on command, or fail in other ways.

After the cut, files below :attr:`PowerLossDisk.path` have the data that a process flushed (fsync,
fdatasync), and of the rest what the kernel happened to write: by itself it writes nothing for half
a minute.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Self

from harness.targets.errors import TargetError
from harness.targets.scratch import ScratchFolder

SIZE_BYTES = 256 << 20
"""The size of the disk. Its file has holes where nothing was written."""
END_TIMEOUT_S = 30
BALLAST = "ballast"
"""The file that fills the disk; no other process uses it."""
MAKE = ("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1", "-J", "size=8")


class DiskError(TargetError):
    """A disk that loses power cannot be made, or does not obey; the text gives the reason."""


class PowerLossDisk:
    """A disk that the constructor makes and mounts; as a context manager it is closed at the exit.

    The mount is in the namespace of the holder process, which ends with this process in every case.
    Nothing of the mount is left then, once the processes with open files on it have ended too.
    """

    def __init__(self, size_bytes: int = SIZE_BYTES) -> None:
        """Raises DiskError: a disk needs Linux, root, loop devices and mkfs.ext4."""
        self._holder: subprocess.Popen[str] | None = None
        self._scratch = ScratchFolder()
        try:
            image, place = self._scratch.path / "image", self._scratch.path / "disk"
            place.mkdir()
            _make_image(image, size_bytes)
            self._holder = self._start(image, place)
            image.unlink()  # the loop device has it open
        except BaseException:
            self.close()
            raise
        self.path = Path(f"/proc/{self._holder.pid}/root{place.resolve()}")
        """The disk's root folder, for any process that may look into the holder's."""

    def _start(self, image: Path, place: Path) -> subprocess.Popen[str]:
        program = str(Path(__file__).with_name("holder.py").resolve())  # only Linux can import it
        self._holder = subprocess.Popen(
            [sys.executable, "-I", "-S", program, str(image), str(place.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
            start_new_session=True,
        )
        self._await_answer("mount")
        return self._holder

    def _await_answer(self, order: str) -> None:
        assert self._holder is not None
        assert self._holder.stdout is not None
        said = self._holder.stdout.readline().strip()
        if said != "ok":
            raise DiskError(f"a disk that loses power: {order}: {said or 'its holder ended'}")

    def _order(self, order: str) -> None:
        if self._holder is None or self._holder.stdin is None:
            raise DiskError(f"the disk is closed: {order}")
        try:
            print(order, file=self._holder.stdin, flush=True)
        except BrokenPipeError:
            raise DiskError(f"the disk's holder has ended: {order}") from None
        self._await_answer(order)

    def sync(self) -> None:
        """Flush all written data, so that it is there after a cut."""
        self._order("sync")

    def fill(self, left_bytes: int) -> None:
        """Leave about ``left_bytes`` of free space, until :meth:`free`. Raises OSError."""
        with (self.path / BALLAST).open("ab") as file:
            there = os.statvfs(self.path)
            more = max(there.f_bavail * there.f_frsize - left_bytes, 0)
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size + more)

    def free(self) -> None:
        """Free the space that :meth:`fill` took. Raises OSError: the disk was not filled."""
        (self.path / BALLAST).unlink()

    def become_read_only(self) -> None:
        """Make the disk refuse writes (EROFS) until :meth:`remount`; it has all that was written.

        The kernel does the same after an error of a disk, even if processes have files open.
        """
        self._order("read_only")

    def cut(self) -> None:
        """Cut the power: the kernel writes nothing more, and every access fails.

        The caller must kill processes that have files open.
        """
        self._order("cut")

    def remount(self) -> None:
        """Restore the power: the disk has its content of the cut.

        All files that were open before must be closed. Raises DiskError: a process still has one
        open after three seconds.
        """
        self._order("unmount")
        self._order("mount")

    def close(self) -> None:
        """Remove the disk with all its data. Twice is fine."""
        held, self._holder = self._holder, None
        if held is not None:
            assert held.stdin is not None
            assert held.stdout is not None
            held.stdin.close()
            try:
                held.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                held.kill()
                held.wait()
            held.stdout.close()
        self._scratch.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_image(image: Path, size_bytes: int) -> None:
    if missing := why_not():
        raise DiskError(missing)
    with image.open("wb") as file:
        file.truncate(size_bytes)
    made = subprocess.run([*MAKE, str(image)], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        raise DiskError(f"{MAKE[0]} failed: {made.stderr.strip()[-500:]}")


_NEEDED: tuple[tuple[Callable[[], bool], str], ...] = (
    (lambda: sys.platform.startswith("linux"), "it takes Linux"),
    (lambda: os.geteuid() == 0, "it takes root"),
    (lambda: Path("/dev/loop-control").exists(), "it takes loop devices (/dev/loop-control)"),
    (lambda: shutil.which(MAKE[0]) is not None, f"it takes {MAKE[0]}"),
)


def why_not() -> str:
    """Return what this machine lacks for such a disk; empty if nothing is known to be missing."""
    lacks = next((words for is_there, words in _NEEDED if not is_there()), "")
    return f"no disk can lose power here: {lacks}" if lacks else ""


@cache
def is_possible() -> bool:
    """True if this machine can make such a disk; the first call tries it."""
    try:
        with PowerLossDisk(32 << 20) as disk:
            disk.cut()
            disk.remount()
    except DiskError:
        return False
    return True
