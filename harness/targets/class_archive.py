"""Archives of loaded classes, which take a third off the work of a start of Kafka.

Java 17 to 24 write and read a dynamic class archive (AppCDS), Java 25 and newer an AOT cache
(JEP 483, 514); both are written when a JVM that was started for it ends normally. Every JVM that
starts without an archive is started so: most end by SIGKILL, and the first that does not leaves
one. An archive is named after everything that it depends on (runtime, flags, jars with their
times), so a stale one is simply not found; the JVM checks again and runs without when it does not
fit.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.targets.java import JavaHome
from harness.targets.pinned_file import exclusive

AOT_SINCE = 25
WRITE_TIMEOUT_MS = 300_000  # 4 s of work, on a machine that may be busy


class ClassArchive:
    """The archive for one runtime, one list of flags and one classpath."""

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

    def is_usable(self) -> bool:
        """True if there is an archive to start with."""
        return _size_bytes(self.path) > 0

    def read_flags(self) -> list[str]:
        """JVM flags that use the archive; an unfit one costs nothing but its benefit."""
        if not self.is_usable():
            return []
        if self._aot:
            return [f"-XX:AOTCache={self.path}", "-Xlog:aot*=error"]
        return [f"-XX:SharedArchiveFile={self.path}", "-Xlog:cds*=error"]

    def write_flags(self, place: Path) -> list[str]:
        """JVM flags for a run that leaves an archive at ``place`` when it ends normally."""
        option = "AOTCacheOutput" if self._aot else "ArchiveClassesAtExit"
        topic = "aot" if self._aot else "cds"
        return [f"-XX:{option}={place}", f"-Xlog:{topic}*=error"]

    def keep(self, place: Path) -> None:
        """After the writing JVM ended normally: what it left becomes the archive, in one step.

        Nothing changes where it left nothing, or where there is an archive by now.
        """
        if not _size_bytes(place):
            return
        with exclusive(self.path):
            if not self.is_usable():
                new = self.path.with_name(f"{self.path.name}.new")
                shutil.copyfile(place, new)
                new.replace(self.path)

    def discard(self) -> None:
        """Forget an archive with which a JVM did not start."""
        self.path.unlink(missing_ok=True)


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
