"""Prose in the files of this project, and the counts of words that plain English does without.

``python -m tests.architecture.prose`` prints the counts per 1,000 words, by folder; ``--record``
writes the counts of each file into ``prose_counts.tsv``, where they may only fall.

Prose is Markdown without code, docstrings, comments, other strings of three words or more, and the
strings and comments of requirements and profiles.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from enum import Enum
from pathlib import Path

from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("prose_counts.tsv")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
PERSONS = re.compile(r"\b(?:who|whose|whom|whoever|nobody|somebody)\b", re.IGNORECASE)
SPEECH = re.compile(r"\b(?:tell|tells|told|telling)\b", re.IGNORECASE)
OPENING = re.compile(r"(?:What|Who|Whose|Which|Whether|How)\b")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
SENTENCE_WORDS = 3
TOML = ("harness/conformance/requirements/", ".profile.toml")
NOT_COUNTED = ("tests/architecture/prose.py", "docs/glossary.md")
"""They name the words that they advise against."""
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Kind(Enum):
    """Prose that users read, and prose that only developers read."""

    PUBLIC = "public"
    INNER = "inner"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of prose."""

    kind: Kind
    words: str
    is_docstring: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """Words for persons, words of speech, and docstrings that open with a question word."""

    persons: int = 0
    speech: int = 0
    openings: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def exceed(self, other: Counts) -> bool:
        """True if any count is larger."""
        return any(a > b for a, b in zip(astuple(self), astuple(other), strict=True))


def files() -> list[str]:
    """Paths of all files with prose, those that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [
        name
        for name in names.splitlines()
        if (name.endswith((".md", ".py")) or any(mark in name for mark in TOML))
        and name not in NOT_COUNTED
        and (ROOT / name).exists()
    ]


def counts_of(name: str) -> Counts:
    """The counts of one file."""
    text = (ROOT / name).read_text("utf-8")
    if not any(pattern.search(text) for pattern in (PERSONS, SPEECH, OPENING)):
        return Counts()  # without the cost of parsing
    return counted(texts(name, text))


def counted(pieces: Iterable[Text]) -> Counts:
    """The counts of these pieces."""
    total = Counts()
    for piece in pieces:
        total += Counts(
            len(PERSONS.findall(piece.words)),
            len(SPEECH.findall(piece.words)),
            int(piece.is_docstring and OPENING.match(piece.words) is not None),
        )
    return total


def texts(name: str, text: str) -> Iterator[Text]:
    """The prose of a file. Raises SyntaxError."""
    if name.endswith(".md"):
        yield Text(Kind.PUBLIC, CODE.sub(" ", text))
    elif name.endswith(".py"):
        yield from _of_python(text)
    else:
        yield Text(Kind.PUBLIC, text)


def _of_python(text: str) -> Iterator[Text]:
    tree = parsed(text)
    docstrings: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            docstrings.add(first.value)
            is_public = not getattr(node, "name", "").startswith("_")
            kind = Kind.PUBLIC if is_public else Kind.INNER
            yield Text(kind, ast.get_docstring(node) or "", is_docstring=True)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or node in docstrings:
            continue
        if isinstance(node.value, str) and node.value.count(" ") >= SENTENCE_WORDS - 1:
            yield Text(Kind.PUBLIC, node.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Text(Kind.INNER, token.string)


def recorded() -> dict[str, Counts]:
    """The counts on record, by file; a file without a line has none."""
    with RECORD.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t")
        next(rows)
        return {name: Counts(*map(int, counts)) for name, *counts in rows}


def record() -> None:
    """Write the present counts of all files that have any."""
    with RECORD.open("w", encoding="utf-8", newline="") as lines:
        rows = csv.writer(lines, delimiter="\t", lineterminator="\n")
        rows.writerow(["file", *(field.name for field in fields(Counts))])
        for name in sorted(files()):
            counts = counts_of(name)
            if counts != Counts():
                rows.writerow([name, *astuple(counts)])


def _room(name: str) -> str:
    """The folder under which a file is summed up."""
    parts = name.split("/")
    return parts[0] if len(parts) < 3 or parts[0] != "harness" else "/".join(parts[:2])


def report() -> None:
    """Print the counts per 1,000 words, and openings as a share of docstrings, by folder."""
    pieces: dict[tuple[str, Kind], list[Text]] = defaultdict(list)
    for name in files():
        for piece in texts(name, (ROOT / name).read_text("utf-8")):
            for room in (_room(name), "all"):
                pieces[room, piece.kind].append(piece)
    print(f"{'folder':36} {'prose':7} {'words':>8} {'persons':>8} {'speech':>8} {'openings':>9}")
    for (room, kind), found in sorted(pieces.items(), key=lambda one: (one[0][0], one[0][1].value)):
        words = sum(len(WORD.findall(piece.words)) for piece in found)
        docstrings = sum(piece.is_docstring for piece in found)
        counts = counted(found)
        print(
            f"{room:36} {kind.value:7} {words:8} {1000 * counts.persons / max(words, 1):8.1f}"
            f" {1000 * counts.speech / max(words, 1):8.1f}"
            f" {100 * counts.openings / max(docstrings, 1):7.1f} %"
        )


if __name__ == "__main__":
    record() if sys.argv[1:] == ["--record"] else report()
