"""The official clients in a Java process: the program of ``java/``, with the jars of a release."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from harness.base.cache import cache_dir
from harness.clients.session import ANSWER_S, ClientSession
from harness.targets.artifacts import fetch_release
from harness.targets.java import JavaError, find_java
from harness.targets.pinned_file import exclusive

NEWEST: Final = "4.4.0"
FOLDER: Final = Path(__file__).with_name("java")
FLAGS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
MAIN: Final = "clients.Client"

Compile = Callable[[str, Path], None]
"""Compiles for a release into the folder ``classes`` of a folder."""


def official(
    bootstrap: str,
    log: Path,
    release: str = NEWEST,
    *,
    answer_s: float = ANSWER_S,
    otherwise: Compile | None = None,
) -> ClientSession:
    """The session of a release. ``otherwise`` compiles where there is no javac.

    Raises JavaError or DownloadError, and what ``otherwise`` raises: what it needs is not there.
    """
    words = [str(find_java().executable), *FLAGS, f"-Djava.io.tmpdir={log.parent}"]
    classes = compiled(release, otherwise or _without_compiler)
    environment = {"CLASSPATH": _class_path(release, classes)}
    return ClientSession([*words, MAIN, bootstrap], log, environment, answer_s=answer_s)


def official_classes(release: str) -> Path:
    """The classes of the driver for a release. Raises JavaError or DownloadError."""
    return compiled(release, _without_compiler)


def compiled(release: str, otherwise: Compile) -> Path:
    """The classes, made once in the cache; a change of the sources is another folder."""
    key = hashlib.sha256(release.encode())
    for file in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        key.update(f"\0{file.name}\0".encode() + file.read_bytes())
    folder = cache_dir() / "obtained" / f"java-clients-{key.hexdigest()[:16]}"
    with exclusive(folder):
        if not folder.is_dir():
            unfinished = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(unfinished, ignore_errors=True)
            _compile(release, unfinished, otherwise)
            unfinished.replace(folder)
    return folder / "classes"


def _compile(release: str, folder: Path, otherwise: Compile) -> None:
    javac = find_java().home / "bin" / "javac"
    if not javac.exists():
        otherwise(release, folder)
        return
    sources = map(str, sorted(FOLDER.glob("src/*.java")))
    words = [str(javac), "-nowarn", "-d", str(folder / "classes"), "-cp", _class_path(release)]
    done = subprocess.run([*words, *sources], capture_output=True, text=True, check=False)
    if done.returncode:
        raise JavaError(f"the driver does not compile for Kafka {release}: {done.stderr[-2000:]}")


def _without_compiler(release: str, _: Path) -> None:
    java = find_java()
    raise JavaError(
        f"the clients of Kafka {release} need a javac, and {java.home} ({java.origin}) has none: "
        "install a JDK, or set JAVA_HOME to one"
    )


def _class_path(release: str, *more: Path) -> str:
    return os.pathsep.join(map(str, [*more, *fetch_release(release)]))
