"""A Java runtime for an image: only the modules that Kafka needs, made once and kept."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.errors import TargetError
from harness.targets.java import JavaError, find_java

# java.desktop: log4j uses java.beans. jdk.crypto.ec: TLS. jdk.unsupported: sun.misc.Unsafe.
MODULES = ("java.base", "java.desktop", "java.logging", "java.management", "java.naming",
           "java.net.http", "java.rmi", "java.scripting", "java.security.jgss",
           "java.security.sasl", "java.sql", "java.xml", "jdk.crypto.ec", "jdk.management",
           "jdk.security.auth", "jdk.unsupported")  # fmt: skip
SHRINKING = ("--strip-debug", "--no-header-files", "--no-man-pages")


def java_runtime(minimum: int) -> Path:
    """The home of a runtime that can be carried elsewhere: made by jlink where there is one,
    else the runtime that :func:`harness.targets.java.find_java` finds. Raises TargetError: no Java.
    """
    try:
        java = find_java(minimum)
    except JavaError as problem:
        raise TargetError(str(problem)) from problem
    jlink = java.home / "bin" / "jlink"
    if not jlink.exists() or not (java.home / "jmods").is_dir():
        return java.home
    key = hashlib.sha256("\0".join((str(java.home), java.release, *MODULES, "CDS")).encode())
    home = cache_dir() / "container-runtimes" / f"java-{java.version}-{key.hexdigest()[:16]}"
    if not (home / "bin" / "java").exists():
        _make(jlink, home)
    return home


def _make(jlink: Path, home: Path) -> None:
    """Beside its place, then renamed: others see all of it or nothing."""
    home.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="java-", dir=home.parent))
    try:
        new = folder / "new"
        _run(jlink, "--add-modules", ",".join(MODULES), *SHRINKING, "--output", str(new))
        _run(new / "bin" / "java", "-Xshare:dump")  # Java's own classes, for quicker starts
        try:
            (folder / "new").rename(home)
        except OSError:
            if not (home / "bin" / "java").exists():  # else another process was quicker
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: Path, *arguments: str) -> None:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise TargetError(f"{program} {arguments[0]} ends with status {done.returncode}: {said}")
