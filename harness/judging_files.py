"""Which files of the suites can hold a test of a requirement, by their text alone.

To import all of them takes longer than to judge one requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

_CALL = re.compile(r"\bjudges\(([^)]*)\)")
_LITERALS = re.compile(r'\s*("[^"\\]*"\s*(,\s*|$))*')
_LITERAL = re.compile(r'"([^"]*)"')


def may_judge(text: str, globs: Sequence[str]) -> bool:
    """Whether a test file may hold a test of these requirements.

    False only when each ``judges(...)`` in it has nothing but names, all of others.
    """
    calls = [call[1] for call in _CALL.finditer(text)]
    if not calls or not all(_LITERALS.fullmatch(arguments) for arguments in calls):
        return True
    return any(_named(arguments, globs) for arguments in calls)


def is_test_file(path: Path) -> bool:
    """Whether pytest collects it."""
    return path.name.startswith("test_") and path.suffix == ".py"


def count_tests(folders: Iterable[Path], globs: Sequence[str]) -> int:
    """How many test functions in these folders name such a requirement; without globs all."""
    texts = (path.read_text("utf-8") for folder in folders for path in folder.rglob("test_*.py"))
    calls = (call[1] for text in texts for call in _CALL.finditer(text))
    return sum(_named(arguments, globs or ["*"]) for arguments in calls)


def _named(arguments: str, globs: Sequence[str]) -> bool:
    names = _LITERAL.findall(arguments)
    return any(fnmatch(name, glob) for name in names for glob in globs)
