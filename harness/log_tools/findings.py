"""Problems of a data folder, and the reaction of a starting broker to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

AS_IT_IS = "readers get it as it is"
INDEX_REBUILT = (
    "rebuilt where its segment is recovered; behind a clean shutdown newer releases use it as it is"
)
REBUILT, REMOVED = "rebuilt at the next start", "removed at the next start"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. ``kind``: a word for programs. ``recovery``: the action of a starting broker.

    ``position``: the byte in the file; ``offset``: the record's; None where there is none.
    """

    file: Path
    kind: str
    problem: str
    recovery: str
    position: int | None = None
    offset: int | None = None


class Gathered:
    """The findings of one file: the first of each kind, with the number of others like it."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}
        self._more: dict[str, int] = {}

    def add(self, finding: Finding) -> None:
        if finding.kind in self._first:
            self._more[finding.kind] = self._more.get(finding.kind, 0) + 1
        else:
            self._first[finding.kind] = finding

    def __iter__(self) -> Iterator[Finding]:
        for kind, finding in self._first.items():
            more = self._more.get(kind)
            problem = f"{finding.problem} (and {more} more)" if more else finding.problem
            yield replace(finding, problem=problem)


@dataclass(frozen=True, slots=True)
class Recovery:
    """The segments of a log that a starting broker checks.

    ``is_clean``: the last shutdown was clean; ``recovery_point``: the log was flushed up to there,
    None without a checkpoint. Source: class LogLoader.
    """

    is_clean: bool = False
    recovery_point: int | None = None

    def cut(self, next_base_offset: int | None, size_bytes: int, later_segments: int) -> str:
        """Return the recovery for bytes that are no batch.

        ``next_base_offset``: of the next segment, None for the last.
        """
        unseen = self._unseen(next_base_offset)
        if unseen:
            return f"{unseen}: {AS_IT_IS}"
        later = f", and {later_segments} later segments" if later_segments else ""
        return f"the log is cut here: {size_bytes} bytes go{later}"

    def kept(self, next_base_offset: int | None) -> str:
        """Return the recovery for a batch with a right checksum, whatever its content."""
        unseen = self._unseen(next_base_offset) or "the checksum is right, more is not looked at"
        return f"{unseen}: {AS_IT_IS}"

    def _unseen(self, next_base_offset: int | None) -> str:
        if self.is_clean:
            return "not looked at behind a clean shutdown"
        point = self.recovery_point
        if point is not None and next_base_offset is not None and next_base_offset <= point:
            return f"not looked at, the recovery point is {point}"
        return ""
