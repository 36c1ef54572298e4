"""The official clients in a Java process: the program of ``java/``, with the jars of a release."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java
from harness.targets.pinned_file import exclusive
from labs.clients.session import ClientSession
from labs.official_classes.maven import build

RELEASE = "4.4.0"
FOLDER = Path(__file__).with_name("java")
FLAGS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
MAIN = "clients.Client"


def official(bootstrap: str, log: Path) -> ClientSession:
    """Raises JavaError, DownloadError or MavenError: what it needs is not there."""
    words = [str(find_java().executable), *FLAGS, f"-Djava.io.tmpdir={log.parent}"]
    return ClientSession([*words, MAIN, bootstrap], log, {"CLASSPATH": _class_path(compiled())})


def compiled() -> Path:
    """The classes, made once in the cache; a change of the sources is another folder."""
    key = hashlib.sha256(RELEASE.encode())
    for file in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        key.update(f"\0{file.name}\0".encode() + file.read_bytes())
    folder = cache_dir() / "obtained" / f"java-clients-{key.hexdigest()[:16]}"
    with exclusive(folder):
        if not folder.is_dir():
            unfinished = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(unfinished, ignore_errors=True)
            _compile(unfinished)
            unfinished.replace(folder)
    return folder / "classes"


def _compile(folder: Path) -> None:
    """With the javac of a JDK; where there is only a runtime, with what Maven brings."""
    javac = find_java().home / "bin" / "javac"
    if not javac.exists():
        properties = {"kafka.version": RELEASE, "classes.directory": str(folder)}
        build(FOLDER / "pom.xml", "compile", properties)
        return
    sources = map(str, sorted(FOLDER.glob("src/*.java")))
    words = [str(javac), "-d", str(folder / "classes"), "-cp", _class_path(), *sources]
    subprocess.run(words, check=True)


def _class_path(*more: Path) -> str:
    return os.pathsep.join(map(str, [*more, *fetch_release(RELEASE)]))
