"""The text by which a check says that its release does not promise the requirement.

It stands in the ``reason`` of a check, before the observation, and so in every journal and Parquet
file: ``promised since 2.4; this is 2.3.1: error code 2, not 87``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

SINCE, UNTIL = "since", "until"

_TEXT = re.compile(rf"promised ({SINCE}|{UNTIL}) ([^\s,;]+)(?:, not in (\S+))?; this is ")


@dataclass(frozen=True, slots=True)
class DatedReason:
    """A date of the catalogue that excuses a release.

    Attributes:
        word: SINCE or UNTIL.
        line: the first or last releases that keep the requirement, as 2.4 or 3.x.
        left_out: the release itself, if it is one between the dates that does not; else empty.
    """

    word: str
    line: str
    left_out: str = ""

    def text(self, release: str) -> str:
        """The reason why ``release`` need not keep the requirement."""
        left_out = f", not in {self.left_out}" if self.left_out else ""
        return f"promised {self.word} {self.line}{left_out}; this is {release}"

    @classmethod
    def read(cls, reason: str) -> Self | None:
        """Return the date that a check's reason begins with; None for another reason."""
        found = _TEXT.match(reason)
        return None if found is None else cls(found[1], found[2], found[3] or "")
