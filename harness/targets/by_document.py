"""``by-document``: no broker, but what this package does by document alone.

No broker that could be started speaks the formats of Kafka 0.7, and its clients worked out their
assignments themselves. What is promised of those is judged on functions of ours; a run needs a
target to be recorded under, and this is its name.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Self

from harness.base.address import Address
from harness.targets.errors import TargetStartError
from harness.targets.kind import Making, TargetKind, refuse_words
from harness.targets.target import Target


class ByDocument(Target):
    """Nothing is started, nothing listens: ``addresses`` stays empty, which is how it is known."""

    spec = "by-document"
    implementation = "kafka-conformance by document"
    capabilities = frozenset()
    safety = frozenset()

    def __init__(self, log_dir: Path | None = None) -> None:
        super().__init__(log_dir)
        self.release = version("kafka-conformance")

    @property
    def log_path(self) -> None:
        return None

    def start(self) -> list[Address]:
        return []

    def stop(self) -> None:
        """Nothing runs."""

    def is_alive(self) -> bool:
        return True

    def __enter__(self) -> Self:
        raise TargetStartError(
            "by-document is no broker, so there is nothing to ask; it is for "
            "`kafka-conformance run`, which judges with it what needs none"
        )


def _make(rest: str | None, making: Making) -> ByDocument:
    refuse_words([] if rest is None else [rest], "by-document")
    return ByDocument(making.log_dir)


KIND = TargetKind(
    name="by-document",
    form="by-document",
    example="by-document",
    meaning="no broker: the requirements that need none, judged on functions of this suite",
    capabilities=ByDocument.capabilities,
    make=_make,
)
