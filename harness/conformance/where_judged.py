"""The tests that judge a requirement and the defects that prove them, found in the source files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

JUDGES, AT_VERSIONS = "judges", "at_versions"
"""The marks of :mod:`harness.runner.marks`."""
_JUDGES_CALL = re.compile(rf"^@{JUDGES}\(([^)]*)\)", re.MULTILINE)
_QUOTED = re.compile(r'"([A-Z0-9]+-\d+)"')
DEFECTS = ("labs/defects", "labs/client_defects")
"""The folders of defects; an installed package does not have them."""


@dataclass(frozen=True, slots=True)
class JudgingTest:
    """A test function.

    Attributes:
        place: ``suites/protocol/test_x.py:12``.
        name: of the function.
        versions: API and ranges of versions at which it runs, ``JoinGroup 0-3, 4+``; empty for a
            test that is about no single API.
    """

    place: str
    name: str
    versions: str

    def __str__(self) -> str:
        return f"{self.place} {self.name}" + (f" ({self.versions})" if self.versions else "")


def judging_tests(requirement_id: str, root: Path) -> list[JudgingTest]:
    """The tests below ``root/suites`` that judge a requirement, in the order of their places."""
    return [test for names, test in _tests(root, requirement_id) if requirement_id in names]


def all_judging_tests(root: Path) -> dict[str, list[JudgingTest]]:
    """By requirement, what `judging_tests` gives: each file is parsed once."""
    found: defaultdict[str, list[JudgingTest]] = defaultdict(list)
    for names, test in _tests(root):
        for name in names:
            found[name].append(test)
    return dict(found)


def requirements_with_tests(root: Path) -> frozenset[str]:
    """The requirements that some test below ``root/suites`` declares; nothing is imported."""
    return frozenset(name for file in _test_files(root / "suites") for name in _declared(file))


def files_that_judge(requirement_ids: Set[str], folder: Path) -> list[Path]:
    """The test files below a folder that declare one of the requirements; nothing is imported."""
    return [file for file in _test_files(folder) if not requirement_ids.isdisjoint(_declared(file))]


def _test_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("test_*.py"))


def _declared(file: Path) -> Iterator[str]:
    for words in _JUDGES_CALL.findall(file.read_text("utf-8")):
        yield from _QUOTED.findall(words)


def _tests(root: Path, named: str = "") -> Iterator[tuple[list[str], JudgingTest]]:
    """The tests of the files that have this text, and the requirements that each one judges."""
    for file in _test_files(root / "suites"):
        if named in file.read_text("utf-8"):  # without the cost of parsing
            yield from _tests_in(file, root)


def _tests_in(file: Path, root: Path) -> Iterator[tuple[list[str], JudgingTest]]:
    """The requirements that each test of a file judges, and the test."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        marks = {name: words for name, words in map(_mark, node.decorator_list) if name}
        if marks.get(JUDGES):
            api, *ranges = marks.get(AT_VERSIONS) or [""]
            versions = f"{api} {', '.join(ranges) or 'all'}" if api else ""
            place = f"{file.relative_to(root)}:{node.lineno}"
            yield marks[JUDGES], JudgingTest(place, node.name, versions)


def _mark(decorator: ast.expr) -> tuple[str, list[str]]:
    """Name and texts of ``@name("text", ...)``; an empty name for another decorator."""
    if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Name):
        return "", []
    words = [arg.value for arg in decorator.args if isinstance(arg, ast.Constant)]
    return decorator.func.id, [word for word in words if isinstance(word, str)]


@dataclass(frozen=True, slots=True)
class NamedDefect:
    """A place in the defect table, and the mistake of the broker in words, where it has some."""

    place: str
    meaning: str


def defects(requirement_id: str, root: Path) -> list[str]:
    """The places in the defect table that name a requirement, as ``labs/defects/x.py:12``."""
    return [
        f"{file.relative_to(root)}:{number}"
        for file, number, names in _naming_lines(root)
        if requirement_id in names
    ]


def all_defects(root: Path) -> dict[str, list[NamedDefect]]:
    """By requirement, the places that `defects` gives."""
    found: defaultdict[str, list[NamedDefect]] = defaultdict(list)
    meanings: dict[Path, dict[int, str]] = {}
    for file, number, names in _naming_lines(root):
        if file not in meanings:
            meanings[file] = _meanings(file.read_text("utf-8"))
        place = f"{file.relative_to(root)}:{number}"
        for name in names:
            found[name].append(NamedDefect(place, meanings[file].get(number, "")))
    return dict(found)


def _naming_lines(root: Path) -> Iterator[tuple[Path, int, list[str]]]:
    """Each line of the defect table that names requirements: file, number from 1, names."""
    for file in _defect_files(root):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if names := list(dict.fromkeys(_QUOTED.findall(line))):
                yield file, number, names


def _defect_files(root: Path) -> list[Path]:
    return [file for folder in DEFECTS for file in sorted((root / folder).glob("*.py"))]


def _meanings(text: str) -> dict[int, str]:
    """By the line of a decorator, the docstring of its function as one line."""
    return {
        line: " ".join((ast.get_docstring(node) or "").split())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        for line in range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1)
    }
