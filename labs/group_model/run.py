"""Plays so many examples of a seed, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import get_state_machine_test

from labs.group_model.difference import GroupsDiffer
from labs.group_model.group_side import Server
from labs.group_model.machine import GroupMachine
from labs.group_model.play import DEADLINE_S
from labs.group_model.playing import Arena, GroupPlaying, LongEnough, PlayCounts, ShrunkDifference
from labs.group_model.sequences import SEQUENCES
from labs.group_model.steps import Act

SHRINKING_S = 120.0


@dataclass(frozen=True, slots=True)
class GroupResult:
    """``difference``: the least story that shows one. ``repeats``: whether it was seen again."""

    counts: PlayCounts
    difference: str | None
    repeats: bool


def run_sequence(
    servers: tuple[Server, Server], acts: Sequence[Act], times: int = 2
) -> GroupResult:
    """These steps as they stand, and once more when they show a difference."""
    arena = Arena(servers)
    for _ in range(times):
        playing = GroupPlaying(arena)
        try:
            for act in acts:
                playing.do(act)
            playing.rest()
        except GroupsDiffer:
            continue
        finally:
            playing.end()
        break
    return GroupResult(arena.counts, arena.found.least, arena.found.times == times)


def run_all_sequences(
    servers: tuple[Server, Server], tell: Callable[[str, GroupResult], None]
) -> bool:
    """Return True if no sequence showed a difference; ``tell`` gets each name and result."""
    clean = True
    for name, acts in SEQUENCES.items():
        result = run_sequence(servers, acts)
        clean = clean and result.difference is None
        tell(name, result)
    return clean


def run(
    servers: tuple[Server, Server],
    examples: int,
    steps: int,
    number: int,
    deadline_s: float = DEADLINE_S,
    shrinking_s: float = SHRINKING_S,
) -> GroupResult:
    """Examples of up to so many steps, until one shows a difference that lasts ``deadline_s``.

    Then, for ``shrinking_s``, the fewest steps that show it.
    """

    class Machine(GroupMachine):
        """Of this run."""

    arena = Machine.arena = Arena(servers, deadline_s, found=ShrunkDifference(shrinking_s))
    test = get_state_machine_test(Machine, settings=_settings(examples, steps))
    try:
        seed(number)(test)()
    except (GroupsDiffer, Flaky, LongEnough):
        if arena.found.least is None:
            raise
    return GroupResult(arena.counts, arena.found.least, arena.found.times > 1)


def _settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
