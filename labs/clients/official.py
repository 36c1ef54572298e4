"""The newest official clients, also where there is only a Java runtime: Maven brings a compiler."""

from __future__ import annotations

from pathlib import Path

from harness.clients.official import FLAGS, FOLDER, NEWEST
from harness.clients.official import official as official_of
from harness.clients.session import ClientSession
from labs.official_classes.maven import build

__all__ = ["FLAGS", "RELEASE", "official"]

RELEASE = NEWEST


def official(bootstrap: str, log: Path) -> ClientSession:
    """Raises JavaError, DownloadError or MavenError: what it needs is not there."""
    return official_of(bootstrap, log, otherwise=_by_maven)


def _by_maven(release: str, folder: Path) -> None:
    properties = {"kafka.version": release, "classes.directory": str(folder)}
    build(FOLDER / "pom.xml", "compile", properties)
