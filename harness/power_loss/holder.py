"""The process that holds a disk in its mount namespace; the disk ends with the process.

``python holder.py IMAGE PLACE`` mounts the ext4 in the file IMAGE at the folder PLACE, where only
processes of its namespace see it, and others below ``/proc/PID/root``. Then it executes the orders
on the lines of its standard input and answers each by ``ok`` or ``error REASON``. At the end of its
input, however the writer ended, it exits. The kernel then unmounts the disk and frees its loop
device.

It needs only the standard library, and no module of this project: it runs isolated, by its file.
Linux, as root.
"""

import ctypes
import errno
import fcntl
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

CLONE_NEWNS = 0x00020000
MS_NOATIME, MS_REC, MS_PRIVATE = 0x400, 0x4000, 0x40000
LOOP_SET_FD, LOOP_SET_STATUS64, LOOP_CTL_GET_FREE = 0x4C00, 0x4C04, 0x4C82
LO_FLAGS_AUTOCLEAR = 4
LOOP_INFO = struct.Struct("=5Q4I64s64s32s2Q")
SHUTDOWN = 0x8004587D
NOTHING_FLUSHED = 2
"""The ioctl's argument: the file system stops at once, its journal is not written either."""
OPTIONS = "commit=300,errors=remount-ro"
"""Mount options against two defaults of the kernel.

It writes the journal every five seconds, and with it appended data; and after an error of the disk
it goes on writing.
"""
ERROR_FILE = "/sys/fs/ext4/{device}/trigger_fs_error"
"""A write to this file makes the file system report an error of its disk."""
BUSY_LIMIT_S = 3.0
BUSY_PAUSE_S = 0.01
LOOP_TRIES = 20
ORDERS = ("cut", "unmount", "mount", "sync", "read_only")


class HeldDisk:
    """One mounted image. Every method raises OSError."""

    def __init__(self, image: str, place: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._place = place
        self._call("unshare", CLONE_NEWNS)
        self._call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        self._loop_fd, self._loop = attach(image)  # while it is open, the device stays
        self.mount()

    def _call(self, function: str, *words: object) -> None:
        if getattr(self._libc, function)(*words) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"{function}: {os.strerror(code)}")

    def mount(self) -> None:
        """Mount the disk as at the start of a machine: the kernel replays the journal."""
        words = (self._loop.encode(), self._place.encode(), b"ext4")
        self._call("mount", *words, MS_NOATIME, OPTIONS.encode())

    def cut(self) -> None:
        """Cut the power: from now on every access fails."""
        folder = os.open(self._place, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUTDOWN, struct.pack("I", NOTHING_FLUSHED))
        finally:
            os.close(folder)

    def unmount(self) -> None:
        """Unmount the disk; wait for dying processes that have files open."""
        end = time.monotonic() + BUSY_LIMIT_S
        while True:
            try:
                self._call("umount2", self._place.encode(), 0)
                return
            except OSError as problem:
                if problem.errno != errno.EBUSY or time.monotonic() > end:
                    raise
            time.sleep(BUSY_PAUSE_S)

    def read_only(self) -> None:
        """Make the disk read-only, as the kernel does after an error; all written data is on it.

        ``mount -o remount,ro`` refuses that while files are open for writing.
        """
        self.sync()
        device = Path(self._loop).name
        Path(ERROR_FILE.format(device=device)).write_text("asked for")

    def sync(self) -> None:
        """Flush all written data to the disk."""
        folder = os.open(self._place, os.O_RDONLY)
        try:
            self._call("syncfs", folder)
        finally:
            os.close(folder)


def attach(image: str) -> tuple[int, str]:
    """Return a loop device for the file; the kernel frees it after the last close and unmount."""
    control = os.open("/dev/loop-control", os.O_RDWR)
    backing = os.open(image, os.O_RDWR)
    try:
        for _ in range(LOOP_TRIES):
            number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
            device = f"/dev/loop{number}"
            loop = os.open(device, os.O_RDWR)
            try:
                fcntl.ioctl(loop, LOOP_SET_FD, backing)
                flags = (0, 0, 0, 0, 0, 0, 0, 0, LO_FLAGS_AUTOCLEAR)
                fcntl.ioctl(loop, LOOP_SET_STATUS64, LOOP_INFO.pack(*flags, b"", b"", b"", 0, 0))
            except OSError as problem:
                os.close(loop)
                if problem.errno != errno.EBUSY:  # another process took the device first
                    raise
                continue
            return loop, device
        raise OSError(errno.EBUSY, "no loop device is free")
    finally:
        os.close(backing)
        os.close(control)


def say(line: str) -> None:
    """Write a line to the process that gives the orders."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def answer(action: Callable[[], object]) -> bool:
    """Run the action and write ``ok`` or the error; True if it succeeded."""
    try:
        action()
    except OSError as problem:
        say(f"error {problem}")
        return False
    say("ok")
    return True


def main(image: str, place: str) -> None:
    """Execute orders until the end of standard input."""
    disks: list[HeldDisk] = []
    if not answer(lambda: disks.append(HeldDisk(image, place))):
        return
    orders = {each: getattr(disks[0], each) for each in ORDERS}
    for line in sys.stdin:
        answer(orders[line.strip()])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
