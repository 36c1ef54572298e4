"""The selection of events of a capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from harness.capture.events import REQUEST, Captured, Event


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty means all. A response is also chosen by its request.

    With ``errors`` a request is chosen by its response: it then comes out just before it.
    """

    apis: frozenset[str] = frozenset()
    client_ids: tuple[str, ...] = ()  # globs
    topics: tuple[str, ...] = ()  # globs
    errors: bool = False

    def choose(self, event: Event) -> Iterator[Event]:
        """The event, or nothing; with ``errors`` the request that it answers as well."""
        if not isinstance(event, Captured):
            if not (self.apis or self.client_ids or self.topics):
                yield event
            return
        if not self._wanted(event):
            return
        if self.errors:
            if event.direction == REQUEST and event.problem is None:
                return
            if not event.errors and event.problem is None:
                return
            if event.request is not None and event.request.problem is None:
                yield event.request
        yield event

    def _wanted(self, event: Captured) -> bool:
        if self.apis and (event.api is None or event.api.name not in self.apis):
            return False
        if self.client_ids and not _matches([event.client_id or ""], self.client_ids):
            return False
        topics = [*event.topics, *(event.request.topics if event.request else ())]
        return not self.topics or _matches(topics, self.topics)


def _matches(names: list[str], globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for name in names for glob in globs)
