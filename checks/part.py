"""One part of the checks: its commands, what it needs, and how it is cut into slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from checks.draw import Draw


class Lane(Enum):
    """The gate runs a part that works beside three that wait: waiting overlaps with work."""

    WORKS = "mostly computes"
    WAITS = "mostly waits"
    ALONE = "measures time, so nothing else runs beside it"


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of the environment's programs, and its permitted exit codes.

    Words may hold ``{out}``, the places of :class:`Draw` and those of :class:`Slice`.
    ``starved_with``: the exit code of a command for which the machine was too slow.
    """

    words: tuple[str, ...]
    passes_with: tuple[int, ...] = (0,)
    starved_with: int | None = None


def command(*words: str, passes_with: tuple[int, ...] = (0,)) -> Command:
    """A command line."""
    return Command(words, passes_with)


@dataclass(frozen=True, slots=True)
class Part:
    """A named list of commands; the part fails at the first command that fails.

    Attributes:
        commands: the commands of every slice, in this order.
        sliced: the commands of each slice instead, for a part with different commands in each.
        count: the number of slices, for a part with ``{slice}`` or seeds in its commands.
        seeds: the number of seeds of each slice.
        after: names of parts; this one reads their results.
        goes_first: its session gets a larger share of the processors than those of other parts.
        needs: a program on PATH, without which the part is not run (in CI that is red).
        rooms: paths; a change below them calls for the part. Empty for all paths.
    """

    name: str
    commands: tuple[Command, ...] = ()
    sliced: tuple[tuple[Command, ...], ...] = ()
    count: int = 1
    seeds: int = 1
    lane: Lane = Lane.WORKS
    after: tuple[str, ...] = ()
    goes_first: bool = False
    needs: str = ""
    rooms: tuple[str, ...] = ()

    @property
    def slices(self) -> int:
        return len(self.sliced) or self.count


@dataclass(frozen=True, slots=True)
class Slice:
    """Slice ``number`` (from 1) of ``part``; the whole part where that has one slice only."""

    part: Part
    number: int = 1

    @property
    def name(self) -> str:
        """``fuzz:2/6``, or the part's name alone."""
        whole = self.part.slices == 1
        return self.part.name if whole else f"{self.part.name}:{self.number}/{self.part.slices}"

    @property
    def file_name(self) -> str:
        return self.name.replace(":", "-").replace("/", "-of-")

    def seeds(self, draw: Draw) -> range:
        """The seeds of this slice; no other slice of the part has one of them."""
        first = draw.number + (self.number - 1) * self.part.seeds
        return range(first, first + self.part.seeds)

    def commands(self, draw: Draw, out: str) -> list[Command]:
        """The command lines with their places filled."""
        chosen = self.part.sliced[self.number - 1] if self.part.sliced else self.part.commands
        seeds = self.seeds(draw)
        values = {
            **draw.places,
            "out": out,
            "slice": f"{self.number}/{self.part.slices}",
            "seed": str(seeds[0]),
            "last_seed": str(seeds[-1]),
        }
        return [
            replace(one, words=tuple(word.format(**values) for word in one.words)) for one in chosen
        ]
