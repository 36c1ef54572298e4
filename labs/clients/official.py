"""The newest official clients, also where there is only a Java runtime: Maven brings a compiler."""

from __future__ import annotations

from pathlib import Path

from harness.clients.java_program import JavaProgram
from harness.clients.official import NEWEST
from harness.clients.official import official as official_of
from harness.clients.session import ClientSession
from labs.official_classes.maven import build

RELEASE = NEWEST


def official(bootstrap: str, log: Path) -> ClientSession:
    """Raises JavaError, DownloadError or MavenError: what it needs is not there."""
    return official_of(bootstrap, log, otherwise=by_maven)


def by_maven(program: JavaProgram, folder: Path) -> None:
    """Compile with what Maven brings."""
    properties = {"kafka.version": program.release, "classes.directory": str(folder)}
    build(program.folder / "pom.xml", "compile", properties)
