"""The word from which each run draws its samples, so that another commit draws others."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_COMMIT = "no commit"
NUMBERS = 1_000_000
"""Drawn seeds are below this."""

FRACTIONS = {"half": 2, "quarter": 4, "eighth": 8, "sixteenth": 16}
"""The number of parts by the name of one of them; the gate runs one part."""

ROTATING = (
    *("0.8.2.2", "0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.4.1", "2.8.2"),
    *("3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.2.1"),
)
"""Of these releases of Kafka the gate judges one a commit."""


def number_of(text: str) -> int:
    """A number that follows from the text alone; similar texts have unrelated numbers."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def left_out(names: Iterable[str], share: int, word: str) -> set[str]:
    """Return all names except one in ``share``; at least one stays. Another word leaves others."""
    drawn = sorted(set(names), key=lambda name: number_of(f"{word}\n{name}"))
    return set(drawn[-(-len(drawn) // share) :])


@dataclass(frozen=True, slots=True)
class Draw:
    """``word``: any text; the same word draws the same."""

    word: str

    @property
    def number(self) -> int:
        """A seed for programs that take a number."""
        return number_of(self.word) % NUMBERS

    @property
    def release(self) -> str:
        """The older release of Kafka that the gate judges."""
        return ROTATING[self.number % len(ROTATING)]

    def fraction(self, name: str) -> str:
        """One part of something that is divided, as ``1/4``; ``name`` is a key of FRACTIONS."""
        count = FRACTIONS[name]
        return f"{number_of(f'{name} of {self.word}') % count + 1}/{count}"

    @property
    def places(self) -> dict[str, str]:
        """The values of words in braces in a command line, such as ``{draw}``."""
        return {
            "draw": self.word,
            "number": str(self.number),
            "release": self.release,
            **{name: self.fraction(name) for name in FRACTIONS},
        }


def head(folder: Path = ROOT) -> str:
    """Return the commit that is checked out there, NO_COMMIT outside a repository."""
    return _git("rev-parse", "HEAD", folder=folder) or NO_COMMIT


def changed_since(commit: str) -> list[str] | None:
    """Paths that differ between ``commit`` and the working tree; None for an unknown commit."""
    told = _git("diff", "--name-only", commit)
    return None if told is None else told.splitlines()


def is_clean(*besides: str) -> bool:
    """True if the working tree equals the commit, except for the paths ``besides``."""
    return _git("status", "--porcelain", "--", ".", *(f":!{path}" for path in besides)) == ""


def _git(*words: str, folder: Path = ROOT) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
