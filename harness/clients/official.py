"""The official clients in a Java process: the program of ``java/``, with the jars of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.clients.java_program import FLAGS, Compile, JavaProgram
from harness.clients.session import ANSWER_S, ClientSession
from harness.targets.java import find_java

NEWEST: Final = "4.4.0"
FOLDER: Final = Path(__file__).with_name("java")
MAIN: Final = "clients.Client"


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
    environment = {"CLASSPATH": _program(release).class_path(otherwise)}
    return ClientSession([*words, MAIN, bootstrap], log, environment, answer_s=answer_s)


def official_classes(release: str) -> Path:
    """The classes of the driver for a release. Raises JavaError or DownloadError."""
    return _program(release).classes()


def _program(release: str) -> JavaProgram:
    return JavaProgram(FOLDER, release, (release,))
