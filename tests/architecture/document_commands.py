"""The commands that documents show, and the table that has a class for each of them."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("document_commands.tsv")
SHELLS = ("sh", "bash", "console")
PROGRAMS = re.compile(r"(?:kafka-conformance|pytest|python -m|scripts/)\b")
HISTORY = "CHANGELOG.md"
"""It names commands of earlier states of the tree."""


class Class(StrEnum):
    """The use that a test makes of a command."""

    AS_IS = "as is"
    AS_IS_AT_DEPTH = "as is, deep"
    CHEAPER = "cheaper"
    CHEAPER_AT_DEPTH = "cheaper, deep"
    OPTIONS = "options"
    """Subcommand, options, paths and modules are checked, as for all commands, and no more."""
    ELSEWHERE = "elsewhere"
    """The test that the row names runs it."""
    NOT_RUN = "not run"


RUN_BY_THE_GATE = (Class.AS_IS, Class.CHEAPER)
RUN = (*RUN_BY_THE_GATE, Class.AS_IS_AT_DEPTH, Class.CHEAPER_AT_DEPTH)
NEEDS_NO_MORE = (Class.AS_IS, Class.AS_IS_AT_DEPTH)
"""The others have a cheaper form, a test or a reason in the last column."""


@dataclass(frozen=True)
class Command:
    """One command, on one line, without its comment."""

    document: str
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True)
class Row:
    """One line of the table; ``*`` in ``pattern`` stands for any text."""

    document: str
    kind: Class
    pattern: str
    more: str

    def covers(self, command: Command) -> bool:
        wanted = ".*".join(map(re.escape, self.pattern.split("*")))
        return command.document == self.document and bool(re.fullmatch(wanted, command.text))


def documents() -> Iterator[str]:
    """Every Markdown file that git knows or would take."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    yield from (name for name in sorted(set(listed.splitlines())) if (ROOT / name).exists())


def read(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def in_blocks(document: str, text: str) -> list[Command]:
    """Return the commands of all blocks of shells."""
    return [
        command
        for token in MarkdownIt().parse(text)
        if token.type == "fence" and token.info.strip() in SHELLS
        for command in _of_block(document, token)
    ]


def in_sentences(document: str, text: str) -> list[Command]:
    """Return the commands of this project in running text and tables."""
    return [
        Command(document, token.map[0] + 1, " ".join(child.content.split()))
        for token in MarkdownIt("commonmark").enable("table").parse(text)
        if token.type == "inline" and token.map is not None
        for child in token.children or ()
        if child.type == "code_inline" and PROGRAMS.match(child.content + " ")
    ]


def without_language(document: str, text: str) -> list[str]:
    """Return the places of commands in blocks that do not say that they are of a shell."""
    return [
        f"{document}:{number}: {line.strip()}"
        for token in MarkdownIt().parse(text)
        if token.type in ("fence", "code_block") and token.info.strip() not in SHELLS
        for number, line in _numbered(token)
        if PROGRAMS.match(line.strip())
    ]


def _numbered(token: Token) -> Iterator[tuple[int, str]]:
    assert token.map is not None
    first = token.map[0] + (2 if token.type == "fence" else 1)
    yield from enumerate(token.content.splitlines(), first)


def _of_block(document: str, token: Token) -> Iterator[Command]:
    """Yield commands: those behind ``$`` of a console, else all lines, continued ones joined."""
    is_console = token.info.strip() == "console"
    begun, first = "", 0
    for number, line in _numbered(token):
        if is_console and not begun and not line.startswith("$ "):
            continue
        first = first if begun else number
        begun += line.removeprefix("$ ") if is_console else line
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        if text := " ".join(without_comment(begun).split()):
            yield Command(document, first, text)
        begun = ""
    assert not begun, f"{document}:{first} is continued by nothing"


def without_comment(line: str) -> str:
    """Cut the line at the first ``#`` that begins a word outside of quotes."""
    quote = ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def table() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        head, *rest = rows
    assert head == ["document", "class", "command", "form, test or reason"]
    return [Row(name, Class(kind), pattern, more) for name, kind, pattern, more in rest]


def row_of(command: Command, rows: list[Row]) -> Row | None:
    """Return the first row that covers it."""
    return next((row for row in rows if row.covers(command)), None)


def filled(form: str, values: dict[str, object]) -> str:
    """Fill in the names that stand in braces, and leave other braces alone."""
    return re.sub(r"\{(\w+)\}", lambda name: str(values[name[1]]), form)
