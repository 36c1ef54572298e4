"""Java programs from pinned jars: runtime, classpath, flags, class archive."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.class_archive import ClassArchive
from harness.targets.errors import TargetError
from harness.targets.java import JavaError, JavaHome, find_java

JAVA_MINIMUM = 17
HEAP = "256m"
QUICK, AS_SHIPPED = "quick", "kafka"
_TUNING = {
    QUICK: ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    AS_SHIPPED: (
        "-server",
        "-XX:+UseG1GC",
        "-XX:MaxGCPauseMillis=20",
        "-XX:InitiatingHeapOccupancyPercent=35",
        "-XX:+ExplicitGCInvokesConcurrent",
        "-XX:MaxInlineLevel=15",
    ),
}
"""Java's flags: for a quick start and little memory, or those of bin/kafka-run-class.sh (4.4.0)."""
_HEAP = re.compile(r"[1-9]\d*[kmgKMG]")


def checked_heap(heap: str) -> str:
    """The same text when it is a size as java's -Xmx takes it. Raises TargetError."""
    if not _HEAP.fullmatch(heap):
        raise TargetError(
            f"bad heap {heap!r}: a number and one of k, m, g was expected, for example {HEAP}"
        )
    return heap


def checked_tuning(tuning: str) -> str:
    """The same text when it names a tuning. Raises TargetError."""
    if tuning not in _TUNING:
        raise TargetError(f"bad jvm {tuning!r}: there are {' and '.join(_TUNING)}")
    return tuning


def java_for(called: str) -> JavaHome:
    """The Java to use. Raises TargetError that names the target and what to install."""
    try:
        return find_java(JAVA_MINIMUM)
    except JavaError as problem:
        raise TargetError(f"{called}: {problem}") from problem


class Jvm:
    """One classpath on one runtime; several processes may be started from it."""

    def __init__(
        self, java: JavaHome, name: str, jars: Sequence[Path], heap: str, tuning: str = QUICK
    ) -> None:
        """``name`` is that of the class archive, shared by all targets that start the same."""
        self._java = java
        self._flags = (f"-Xmx{heap}", *_TUNING[tuning])
        self._classpath = os.pathsep.join(map(str, jars))
        folder = cache_dir() / "class-archives"
        self.archive = ClassArchive(folder, name, java, self._flags, jars)

    @property
    def environment(self) -> Mapping[str, str]:
        """For the process. The classpath is no argument: 44 jars would bury all else in ps."""
        return {**os.environ, "CLASSPATH": self._classpath}

    def words(self, folder: Path, flags: Sequence[str], main: str, *arguments: str) -> list[str]:
        """The command line of a main class; what it would leave in /tmp goes to ``folder``."""
        # The libraries of codecs are unpacked at run time, counters for jps are a file in /tmp.
        own = (f"-Djava.io.tmpdir={folder}", "-XX:-UsePerfData")
        return [str(self._java.executable), *self._flags, *own, *flags, main, *arguments]
