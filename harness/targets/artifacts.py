"""The pinned artifacts of each Kafka release, and their way into the cache.

The pins are data: ``data/kafka_artifacts.tsv`` with the columns release, group, artifact, version,
classifier ("-": none), sha256, bytes, from ("pom": required by the release, "extra": added or
replaced). Nothing is resolved at run time, and a file with another checksum is not used.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.errors import TargetError
from harness.targets.maven import BaseAddress, base_address, local_repository
from harness.targets.pinned_file import Download, Progress, checksum_matches, exclusive

COLUMNS = ("release", "group", "artifact", "version", "classifier", "sha256", "bytes", "from")


@dataclass(frozen=True)
class Artifact:
    """One pinned jar; ``classifier`` is None for most."""

    release: str
    group: str
    artifact: str
    version: str
    classifier: str | None
    sha256: str
    size_bytes: int
    origin: str

    @property
    def coordinate(self) -> str:
        """``group:artifact:version[:classifier]``, as Maven writes it."""
        words = [self.group, self.artifact, self.version, self.classifier]
        return ":".join(word for word in words if word)

    @property
    def path(self) -> str:
        """Path below the root of a Maven repository, with ``/``."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        name = f"{self.artifact}-{self.version}{suffix}.jar"
        return "/".join((self.group.replace(".", "/"), self.artifact, self.version, name))


@cache
def pinned_artifacts() -> dict[str, tuple[Artifact, ...]]:
    """All pins by release, in the order of the file. Raises TargetError when it is broken."""
    text = (files("harness.targets") / "data" / "kafka_artifacts.tsv").read_text("utf-8")
    return parse_pins(text)


def parse_pins(text: str) -> dict[str, tuple[Artifact, ...]]:
    """Read the pins from tab-separated text with a header line; by release."""
    rows = csv.reader(text.splitlines(), delimiter="\t")
    header = tuple(next(rows, ()))
    if header != COLUMNS:
        raise TargetError(f"kafka_artifacts.tsv: columns {header}, expected {COLUMNS}")
    pins: dict[str, list[Artifact]] = {}
    for number, row in enumerate(rows, start=2):
        artifact = _pin(row, number)
        pins.setdefault(artifact.release, []).append(artifact)
    return {release: tuple(artifacts) for release, artifacts in pins.items()}


def _pin(row: list[str], line: int) -> Artifact:
    if len(row) != len(COLUMNS) or len(row[5]) != 64 or not row[6].isdigit():
        raise TargetError(f"kafka_artifacts.tsv, line {line}: not a row of {COLUMNS}: {row}")
    release, group, name, version, classifier, sha256, size, origin = row
    return Artifact(
        release, group, name, version, None if classifier == "-" else classifier,
        sha256, int(size), origin,
    )  # fmt: skip


def pinned_releases() -> list[str]:
    """The Kafka releases with pinned artifacts, oldest first."""
    releases = [release for release in pinned_artifacts() if release[0].isdigit()]
    return sorted(releases, key=lambda release: [int(part) for part in release.split(".")])


def fetch_release(release: str, progress: Progress | None = None) -> list[Path]:
    """The jars of a release in the cache, checked against their pins, in classpath order.

    Raises TargetError for a release without pins, and for an artifact that cannot be had.
    """
    if release not in pinned_artifacts():
        known = ", ".join(pinned_releases())
        raise TargetError(f"the artifacts of Kafka {release} are not pinned; pinned: {known}")
    return fetch(pinned_artifacts()[release], progress=progress)


_checked: set[Path] = set()  # checksummed once by this process already


def fetch(
    artifacts: Iterable[Artifact],
    *,
    folder: Path | None = None,
    base: BaseAddress | None = None,
    local: Path | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Bring artifacts into ``folder`` (default: the cache); their paths in the given order.

    Taken from ``local`` (default: Maven's local repository) where the checksum is right, else
    downloaded from ``base`` (default: :func:`harness.targets.maven.base_address`).
    """
    wanted = list(artifacts)
    root = (folder or cache_dir() / "maven").absolute()
    local = local or local_repository()
    paths = {artifact: root / artifact.path for artifact in wanted}
    missing = [
        artifact
        for artifact, path in paths.items()
        if not _is_here(artifact, path) and not _copy_local(artifact, local, path)
    ]
    if missing:
        from harness.targets.download import download_all  # the HTTP client is slow to import

        base = base or base_address()
        downloads = [_download(artifact, base, paths[artifact]) for artifact in missing]
        download_all(downloads, progress=progress)
    _checked.update(paths.values())
    return [paths[artifact] for artifact in wanted]


def _download(artifact: Artifact, base: BaseAddress, path: Path) -> Download:
    return Download(
        name=artifact.coordinate,
        url=f"{base.url}/{artifact.path}",
        url_origin=base.origin,
        path=path,
        sha256=artifact.sha256,
        size_bytes=artifact.size_bytes,
    )


def _is_here(artifact: Artifact, path: Path) -> bool:
    if path in _checked and path.exists():
        return True
    return checksum_matches(path, artifact.sha256, artifact.size_bytes)


def _copy_local(artifact: Artifact, local: Path, path: Path) -> bool:
    """Copy the jar from Maven's local repository when it is there with the right checksum.

    A copy, not a link: whatever Maven does to its file later must not change ours.
    """
    source = local / artifact.path
    if not checksum_matches(source, artifact.sha256, artifact.size_bytes):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    copy = path.with_name(path.name + ".copy")
    with exclusive(path):
        shutil.copyfile(source, copy)
        if not checksum_matches(copy, artifact.sha256, artifact.size_bytes):
            copy.unlink()
            return False
        copy.replace(path)
    return True
