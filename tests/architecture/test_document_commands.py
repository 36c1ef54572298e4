"""The commands of all documents: each has a class in a table, and names what there is."""

from __future__ import annotations

import re
from functools import cache

import pytest

from checks.deep_parts import DEEP
from checks.gate_parts import GATE
from tests.architecture import document_commands
from tests.architecture.command_check import problems
from tests.architecture.document_commands import (
    HISTORY,
    NEEDS_NO_MORE,
    ROOT,
    RUN,
    Class,
    Command,
    documents,
    filled,
    in_blocks,
    in_sentences,
    read,
    row_of,
    table,
    without_language,
)

ROWS = table()
VALUES: dict[str, object] = {"root": ROOT, "broker": "127.0.0.1:9092", "data": "data"}


@cache
def commands() -> list[Command]:
    return [command for name in documents() for command in in_blocks(name, read(name))]


def wrong(given: list[Command], *, whole: bool = True) -> str:
    """Return each command with what is wrong with it."""
    found = [(one, problems(one.text, whole=whole)) for one in given]
    return "\n".join(f"{one}\n    {problem}" for one, said in found for problem in said)


def test_each_command_in_documents_has_class() -> None:
    unknown = [str(command) for command in commands() if not row_of(command, ROWS)]
    assert not unknown, f"add rows to {document_commands.TABLE.name}:\n" + "\n".join(unknown)


def test_each_row_covers_command() -> None:
    covering = {row_of(command, ROWS) for command in commands()}
    stale = [row for row in ROWS if row not in covering]
    assert not stale, "no document shows these commands:\n" + "\n".join(map(str, stale))


def test_blocks_with_commands_name_their_language() -> None:
    found = [place for name in documents() for place in without_language(name, read(name))]
    assert not found, "mark these blocks as `sh` or `console`:\n" + "\n".join(found)


def test_each_row_has_details_that_its_class_needs() -> None:
    names = {part.name for part in (*GATE, *DEEP)}
    for row in ROWS:
        assert bool(row.more) is (row.kind not in NEEDS_NO_MORE), row
        if row.kind not in RUN:
            assert set(re.findall(r"\bpart (\w+)", row.more)) <= names, row
            places = re.findall(r"\btests/[\w/.]+", row.more)
            assert all((ROOT / place).exists() for place in places), row
            assert places or row.kind is not Class.ELSEWHERE, row


def test_each_command_in_block_is_valid() -> None:
    found = wrong(commands())
    assert not found, found


def test_each_form_that_is_run_is_valid() -> None:
    forms = [
        Command(row.document, 0, filled(row.more, VALUES))
        for row in ROWS
        if row.kind in RUN and row.more
    ]
    found = wrong(forms)
    assert not found, found


def test_each_command_in_sentence_is_valid() -> None:
    """In a sentence a command may be a part of one."""
    names = [name for name in documents() if name != HISTORY]
    found = wrong([one for name in names for one in in_sentences(name, read(name))], whole=False)
    assert not found, found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kafka-conformance judge", "no subcommand 'judge'"),
        ("kafka-conformance codec explain Fetch", "no subcommand 'explain'"),
        ("kafka-conformance run --out results --target", "requires an argument"),
        ("kafka-conformance run --target reference", "Missing option '--out'"),
        ("kafka-conformance run --out results --fast", "No such option '--fast'"),
        ("kafka-conformance run --out results --versions most", "'most' is not one of"),
        ("kafka-conformance run --out results --target refrence", 'did you mean "reference"'),
        ("kafka-conformance run --out results --target kafka:4.9.9", "4.9.9"),
        ("kafka-conformance run --out results --requirement PROD-999", "PROD-999"),
        ("kafka-conformance gate a b", "unexpected extra argument"),
        ("echo x | kafka-conformance codec transcode --fast", "No such option '--fast'"),
        ("kafka-conformance lab recovery --damages many", "'many' is not a valid integer"),
        ("scripts/judge --fast", "No such option '--fast'"),
        ("scripts/test lnt", "lnt"),
        ("scripts/gone", "no file scripts/gone"),
        ("pytest tests/codec/test_gone.py::test_it", "no file tests/codec/test_gone.py"),
        ("python -m bench.gone", "no module bench.gone"),
        ("kafka-conformance run --out 'results", "No closing quotation"),
    ],
)
def test_wrong_command_has_one_problem(text: str, problem: str) -> None:
    found = problems(text)
    assert len(found) == 1
    assert problem in found[0]


def test_commands_are_read_with_their_lines_and_without_comments() -> None:
    text = (
        "# Page\n\n```sh\na --b \\\n    c   # why\n\n# alone\nd '#1'\n```\n\n"
        "- item\n\n  ```console\n  $ e | f\n  printed\n  ```\n\n```\npytest tests\n```\n"
        "A `kafka-conformance\nrun` of `others`.\n"
    )
    assert [str(command) for command in in_blocks("a.md", text)] == [
        "a.md:4: a --b c",
        "a.md:8: d '#1'",
        "a.md:14: e | f",
    ]
    assert [command.text for command in in_sentences("a.md", text)] == ["kafka-conformance run"]
    assert without_language("a.md", text) == ["a.md:19: pytest tests"]
