"""Topics without a request, made by the part of the harness that started the broker under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class TopicMaker(Protocol):
    """Makes and deletes topics of brokers that have no request for that (before 0.10.1)."""

    def make(
        self, name: str, partitions: int, configs: Mapping[str, str], *, node: int | None = None
    ) -> None:
        """Create a topic with one replica of each partition, on ``node`` if one is named.

        Perhaps it is not yet served.

        Raises PreparationFailed: it is there already, or cannot be made; ApiNotAdvertised: the
        release has no topics with settings of their own.
        """

    def delete(self, names: Sequence[str]) -> None:
        """Delete those that exist, if the release can; they go some time later."""
