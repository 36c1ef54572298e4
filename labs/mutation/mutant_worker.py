"""A process that judges one mutant after the other in the pytest session that it was forked with.

Each mutant is a broker of its own, and a run of its own: the tests that execute the mutated lines,
the related ones first. The run ends at the first check that fails.
"""

from __future__ import annotations

import faulthandler
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pytest

from harness.conformance.journal import JOURNAL_NAME
from harness.targets.reference import ReferenceBroker
from harness.targets.reference_cluster import ReferenceCluster
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.row_session import MakeTarget, RowSession
from labs.defects.written_checks import checks_in, has_failed
from labs.mutation.areas import areas_of
from labs.mutation.mutant import Mutant
from labs.mutation.verdicts import JudgedMutant, judge

MODULE = "labs.mutation.mutated_broker"
CASE_LIMIT_S = 240
"""A case that takes longer ends the process: the mutant hangs."""
RUN_LIMIT_S = 300
"""No other test of a mutant begins later: under some mutants each test waits until it gives up."""
OTHERS_LIMIT_S = 120
"""No test of another area begins later: few of these notice what the related ones do not."""


@dataclass(frozen=True, slots=True)
class MutantWork:
    """A mutant, and the tests that execute it.

    Attributes:
        tests: their node ids, in their order.
        related: the functions of those that judge what the mutant's module does.
    """

    mutant: Mutant
    tests: tuple[str, ...]
    related: frozenset[str]


@dataclass(slots=True)
class MutantWorker:
    """Judges mutants. ``spec``: the target; ``out``: a folder for runs; ``output``: for stacks."""

    session: RowSession
    spec: str
    out: Path
    output: IO[str]
    _runs: int = 0

    def judge(self, work: MutantWork) -> JudgedMutant:
        """Run the tests until one of them notices the mutant."""
        self._runs += 1
        name = f"mutant-{self._runs}"
        journal = self.out / "runs" / name / JOURNAL_NAME
        chosen = {test: at for at, test in enumerate(work.tests)}
        items = [item for item in self.session.items if item.nodeid in chosen]
        items.sort(key=lambda item: chosen[item.nodeid])
        began_s, died = time.monotonic(), self._run(items, work, name, journal)
        areas = areas_of(work.mutant.area_path)
        found = judge(work.mutant, list(checks_in(journal)), areas, died)
        return replace(found, seconds=round(time.monotonic() - began_s, 1))

    def _run(self, items: Sequence[pytest.Item], work: MutantWork, name: str, file: Path) -> bool:
        """Return True if the broker did not start or could not be probed."""
        began_s, left = time.monotonic(), deque(items)

        def begin() -> None:
            left.popleft()
            self._begin_limit()

        def is_over() -> bool:
            is_near = left[0].nodeid.partition("[")[0] in work.related
            limit_s = RUN_LIMIT_S if is_near else OTHERS_LIMIT_S
            return has_failed(file) or time.monotonic() > began_s + limit_s

        self.session.before_each, self.session.until = begin, is_over
        self._begin_limit()
        try:
            self.session.run(items, target_of(self.spec, work.mutant.name), self.out, name)
        except Exception:  # the mutant does not start, in whatever way
            return True
        finally:
            faulthandler.cancel_dump_traceback_later()
        return False

    def _begin_limit(self) -> None:
        faulthandler.dump_traceback_later(CASE_LIMIT_S, exit=True, file=self.output)


def target_of(spec: str, mutant: str) -> MakeTarget:
    """Return the maker of the target of this string, as this mutant."""
    return target_with(spec, (sys.executable, "-m", MODULE, mutant, "--port", "0"))


def target_with(spec: str, command: tuple[str, ...]) -> MakeTarget:
    """Return the maker of a built-in broker, or cluster, that runs this command."""

    def make(log_dir: Path | None) -> Target:
        like = parse_target(spec, log_dir=log_dir)
        if isinstance(like, ReferenceCluster):
            return ReferenceCluster(like.brokers, log_dir=log_dir, command=command)
        assert isinstance(like, ReferenceBroker), f"{spec}: only the built-in broker has mutants"
        return ReferenceBroker(
            log_dir=log_dir, like=like.like, on_disk=like.on_disk, command=command
        )

    return make
