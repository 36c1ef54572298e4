"""The two images of the tests, as targets made by name (in another process too)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.targets.containers.options import read_options
from harness.targets.containers.target import DockerTarget

KAFKA = "4.4.0"
IMAGES = {
    "kafka-conformance-test/reference:1": "reference",
    f"kafka-conformance-test/kafka:{KAFKA}": f"kafka:{KAFKA}",
}
REFERENCE_IMAGE, KAFKA_IMAGE = IMAGES


def reference_published(log_dir: Path) -> DockerTarget:
    return DockerTarget(read_options(REFERENCE_IMAGE), log_dir=log_dir)


def reference_host(log_dir: Path, settings: Mapping[str, str] | None = None) -> DockerTarget:
    options = read_options(f"{REFERENCE_IMAGE},network=host")
    return DockerTarget(options, log_dir=log_dir, settings=settings)


def kafka_published(log_dir: Path) -> DockerTarget:
    return DockerTarget(read_options(KAFKA_IMAGE), log_dir=log_dir)


def kafka_host(log_dir: Path) -> DockerTarget:
    return DockerTarget(read_options(f"{KAFKA_IMAGE},network=host"), log_dir=log_dir)
