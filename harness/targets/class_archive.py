"""Archives of loaded classes, which make a second start of Kafka twice as quick.

Java 17 to 24 write and read a dynamic class archive (AppCDS), Java 25 and newer an AOT cache
(JEP 483, 514); both are written when a JVM that was started for it ends normally. An archive is
named after everything that it depends on (runtime, flags, jars with their times), so a stale
one is simply not found; the JVM checks again and runs without when it does not fit.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from harness.java import JavaHome

AOT_SINCE = 25
WRITE_TIMEOUT_MS = 60_000


class ClassArchive:
    """The archive for one runtime, one list of flags and one classpath.

    An empty file is the note that this runtime cannot write one, so that no one tries again.
    """

    def __init__(
        self, folder: Path, name: str, java: JavaHome, flags: Sequence[str], jars: Sequence[Path]
    ) -> None:
        self._aot = java.version >= AOT_SINCE
        key = hashlib.sha256()
        for word in (str(java.home), java.release, *flags):
            key.update(f"{word}\0".encode())
        for jar in jars:
            found = jar.stat()
            key.update(f"{jar}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
        suffix = "aot" if self._aot else "jsa"
        self.path = folder / f"{name}-java{java.version}-{key.hexdigest()[:16]}.{suffix}"
        self._written = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        self._lock: BinaryIO | None = None

    def is_usable(self) -> bool:
        """Whether an archive is there to start with."""
        return _size_bytes(self.path) > 0

    def read_flags(self) -> list[str]:
        """JVM flags that use the archive; an unfit one costs nothing but its benefit."""
        if not self.is_usable():
            return []
        if self._aot:
            return [f"-XX:AOTCache={self.path}", "-Xlog:aot*=error"]
        return [f"-XX:SharedArchiveFile={self.path}", "-Xlog:cds*=error"]

    def claim(self) -> bool:
        """Whether this process is the one to write the archive now; :meth:`release` ends it."""
        if self.path.exists():
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_name(f"{self.path.name}.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody else is at it
            lock.close()
            return False
        self._lock = lock
        return True

    def write_flags(self) -> list[str]:
        """JVM flags for a run that leaves an archive when it ends normally (after claim)."""
        option = "AOTCacheOutput" if self._aot else "ArchiveClassesAtExit"
        topic = "aot" if self._aot else "cds"
        return [f"-XX:{option}={self._written}", f"-Xlog:{topic}*=error"]

    def keep(self) -> None:
        """After the writing JVM ended: what it wrote becomes the archive, in one step."""
        if not _size_bytes(self._written):
            self._written.write_bytes(b"")
        self._written.replace(self.path)

    def release(self) -> None:
        """Give up the claim and what was half written. Doing it twice is fine."""
        if self._lock is None:
            return
        self._written.unlink(missing_ok=True)
        self._written.with_name(f"{self._written.name}.config").unlink(missing_ok=True)
        self._lock.close()
        self._lock = None

    def discard(self) -> None:
        """Forget an archive with which a JVM did not start."""
        self.path.unlink(missing_ok=True)


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
