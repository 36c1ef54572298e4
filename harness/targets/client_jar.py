"""The client library alone of a release: 0.8.2 was the first to have one."""

from __future__ import annotations

from pathlib import Path

from harness.targets.artifacts import Artifact, fetch, pinned_artifacts, pinned_releases
from harness.targets.errors import TargetError
from harness.targets.pinned_file import Progress

NAME = "kafka-clients"


def pinned_client_jars() -> dict[str, Artifact]:
    """The jar of each release that has one, oldest first."""
    return {
        release: artifact
        for release in pinned_releases()
        for artifact in pinned_artifacts()[release]
        if artifact.artifact == NAME
    }


def fetch_client_jar(release: str, progress: Progress | None = None) -> Path:
    """The jar in the cache, checked against its pin; nothing else of the release is fetched.

    Raises TargetError for a release without a pin, DownloadError when it cannot be had.
    """
    pins = pinned_client_jars()
    if release not in pins:
        known = ", ".join(pins)
        raise TargetError(f"the client library of Kafka {release} is not pinned; pinned: {known}")
    return fetch([pins[release]], progress=progress)[0]
