"""A Java program of ours, compiled once against released jars of Kafka."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.base.cache import cache_dir
from harness.targets.artifacts import fetch_release
from harness.targets.java import JavaError, find_java
from harness.targets.pinned_file import exclusive

FLAGS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")


@dataclass(frozen=True, slots=True)
class JavaProgram:
    """``folder``: has ``src``, and ``pom.xml`` if Maven may compile it. ``release``: of Kafka.

    ``jars``: names of pins, in the order of the class path; their releases are that one.
    The methods raise JavaError or DownloadError: what they need is not there.
    """

    folder: Path
    release: str
    jars: tuple[str, ...]

    def class_path(self, otherwise: Compile | None = None) -> str:
        """The classes and all jars. ``otherwise`` compiles where there is no javac."""
        return self._with_jars(self.classes(otherwise))

    def classes(self, otherwise: Compile | None = None) -> Path:
        """The classes, made once in the cache; a change of the sources is another folder."""
        key = hashlib.sha256(" ".join(self.jars).encode())
        for file in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            key.update(f"\0{file.name}\0".encode() + file.read_bytes())
        folder = cache_dir() / "obtained" / f"java-clients-{key.hexdigest()[:16]}"
        with exclusive(folder):
            if not folder.is_dir():
                unfinished = folder.with_name(f"{folder.name}.new")
                shutil.rmtree(unfinished, ignore_errors=True)
                self._compile(unfinished, otherwise or _without_compiler)
                unfinished.replace(folder)
        return folder / "classes"

    def _compile(self, folder: Path, otherwise: Compile) -> None:
        javac = find_java().home / "bin" / "javac"
        if not javac.exists():
            otherwise(self, folder)
            return
        sources = map(str, sorted(self.folder.glob("src/*.java")))
        words = [str(javac), "-nowarn", "-d", str(folder / "classes"), "-cp", self._with_jars()]
        done = subprocess.run([*words, *sources], capture_output=True, text=True, check=False)
        if done.returncode:
            named = ", ".join(self.jars)
            raise JavaError(f"{self.folder} does not compile with {named}: {done.stderr[-2000:]}")

    def _with_jars(self, *more: Path) -> str:
        found = [jar for name in self.jars for jar in fetch_release(name)]
        return os.pathsep.join(map(str, [*more, *found]))


Compile = Callable[[JavaProgram, Path], None]
"""Compiles a program into the folder ``classes`` of a folder."""


def _without_compiler(program: JavaProgram, _: Path) -> None:
    java = find_java()
    raise JavaError(
        f"the clients of Kafka {program.release} need a javac, and {java.home} ({java.origin}) has "
        "none: install a JDK, or set JAVA_HOME to one"
    )
