"""The client library alone of a release: more releases than can be started.

``data/client_jars.tsv`` pins those of releases that are no target, in the form of
``kafka_artifacts.tsv``.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from harness.targets.artifacts import Artifact, fetch, parse_pins, pinned_artifacts
from harness.targets.errors import TargetError
from harness.targets.pinned_file import Progress

NAME = "kafka-clients"


def pinned_client_jars() -> dict[str, Artifact]:
    """The jar of each release that has a pin, by release."""
    alone = (files("harness.targets") / "data" / "client_jars.tsv").read_text("utf-8")
    pins = {**parse_pins(alone), **pinned_artifacts()}
    return {
        release: artifact
        for release, artifacts in pins.items()
        for artifact in artifacts
        if artifact.artifact == NAME
    }


def fetch_client_jar(release: str, progress: Progress | None = None) -> Path:
    """The jar in the cache, checked against its pin; nothing else of the release is fetched.

    Raises TargetError for a release without a pin, DownloadError when it cannot be had.
    """
    pins = pinned_client_jars()
    if release not in pins:
        known = ", ".join(sorted(pins))
        raise TargetError(f"the client library of Kafka {release} is not pinned; pinned: {known}")
    return fetch([pins[release]], progress=progress)[0]
