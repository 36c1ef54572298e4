"""pytest in a process that is forked from one which has everything imported.

A row of the defect table takes a second or two of tests; importing for it took as long again.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

# Not the plugins themselves: pytest wants to import those.
PRELOADED = ["pytest", "harness.run_session", "harness.case_session", "harness.targets.spec"]
PRELOADED += ["harness.proxies.front", "tests.defects.all_defects", "tests.defects.prepared"]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(PRELOADED)


def run_pytest(
    words: Sequence[str], variables: Mapping[str, str], output: Path, timeout_s: float
) -> None:
    """Run pytest to its end in a process of its own; what it prints goes to ``output``.

    Args:
        words: of its command line.
        variables: what its environment has besides ours.

    Raises:
        TimeoutError: it did not end in time, and was killed.
    """
    process = _CONTEXT.Process(target=_child, args=(list(words), dict(variables), str(output)))
    process.start()
    process.join(timeout_s)
    if process.is_alive():
        process.kill()
        process.join()
        raise TimeoutError(f"pytest did not end within {timeout_s} s: {output.read_text('utf-8')}")


def _child(words: list[str], variables: dict[str, str], output: str) -> None:
    with Path(output).open("wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    os.environ.update(variables)
    sys.exit(pytest.main(words))
