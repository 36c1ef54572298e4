"""Selection of the test files that can judge a requirement, by their text alone.

Importing all of them takes longer than judging one requirement.
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
    """True if a test file may hold a test of these requirements.

    False only if each ``judges(...)`` in it contains only literal ids, all of other requirements.
    """
    calls = [call[1] for call in _CALL.finditer(text)]
    if not calls or not all(_LITERALS.fullmatch(arguments) for arguments in calls):
        return True
    return any(_named(arguments, globs) for arguments in calls)


def is_test_file(path: Path) -> bool:
    """True if pytest collects the file."""
    return path.name.startswith("test_") and path.suffix == ".py"


def count_tests(folders: Iterable[Path], globs: Sequence[str]) -> int:
    """Count the tests in these folders that judge such a requirement; without globs all."""
    texts = (path.read_text("utf-8") for folder in folders for path in folder.rglob("test_*.py"))
    calls = (call[1] for text in texts for call in _CALL.finditer(text))
    return sum(_named(arguments, globs or ["*"]) for arguments in calls)


def _named(arguments: str, globs: Sequence[str]) -> bool:
    names = _LITERAL.findall(arguments)
    return any(fnmatch(name, glob) for name in names for glob in globs)
