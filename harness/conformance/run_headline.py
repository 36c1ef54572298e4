"""The headline of a run, with the catalogue and the tests that this installation has."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.conformance.catalogue import load_catalogue
from harness.conformance.headline import Headline, headline
from harness.conformance.summary import RunSummary
from harness.conformance.where_judged import requirements_with_tests


def headline_of(summary: RunSummary, root: Path | None = None) -> Headline:
    """Return the headline of a run.

    ``root``: the folder that holds ``suites/``. Without tests there, or without a folder, a
    requirement that has no test yet counts as one that the run did not select.
    """
    tested = tested_below(root) if root is not None else frozenset()
    return headline(summary, load_catalogue(), tested or None)


@cache
def tested_below(root: Path) -> frozenset[str]:
    """The requirements that some test below ``root/suites`` declares.

    Read once: a process does not change its tests.
    """
    return requirements_with_tests(root)
