"""Checks a command of a document without running it."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click

from checks.__main__ import main as checks_command
from checks.deep_parts import DEEP
from checks.gate_parts import GATE
from checks.named_slices import UnknownPart, named_slices
from harness.cli import main
from harness.commands.requirement_globs import require_known
from harness.commands.run import run
from harness.targets.errors import TargetError
from harness.targets.spec import expand_targets, parse_target

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = ("|", "||", "&&", ";", "&")
TARGET_OPTIONS = ("--target", "--left", "--right")
STANDS_FOR = re.compile(r"[A-Z]+(?:-[A-Z]+)*(?:-0+1)?|\.\.\.|AREA-001")
"""A word that a reader replaces."""
FOR_EXAMPLE = ("suites/protocol/test_area.py",)
"""Files that CONTRIBUTING.md lets the reader write."""
OF_A_FILE = re.compile(r"[\w./-]+\.py|(?:tests|suites)(?:/[\w./-]*)?")


def problems(text: str, *, whole: bool = True) -> list[str]:
    """Return what is wrong; ``whole`` refuses a command that lacks what it needs to run."""
    try:
        parts = simple_commands(text)
    except ValueError as error:
        return [str(error)]
    return [problem for words in parts for problem in _of_one(words, whole)]


def simple_commands(text: str) -> list[list[str]]:
    """Split at the operators of the shell, and leave redirections out."""
    text = re.sub(r"(?<= )\d?>&?[\w./-]+", "", text)
    reader = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    reader.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in reader:
        if word in OPERATORS:
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def _of_one(words: Sequence[str], whole: bool) -> Iterator[str]:
    first, *rest = words
    rest = [word for given in rest if (word := _spoken(given))]
    if first == "kafka-conformance":
        yield from command_line(main, rest, whole=whole)
        yield from _values(rest)
    elif first == "scripts/judge":
        yield from command_line(run, [*rest, "--out", "results"], whole=whole)
        yield from _values(rest)
    elif first == "scripts/test":
        yield from command_line(checks_command, rest, whole=whole)
        yield from _parts(rest)
    elif first == "pytest":
        yield from _missing_files(rest)
    elif first == "python" and rest[:1] == ["-m"] and find_spec(rest[1]) is None:
        yield f"no module {rest[1]}"
    if first.startswith("scripts/") and not (ROOT / first).is_file():
        yield f"no file {first}"


def _spoken(word: str) -> str:
    """Return a word of a synopsis as it is typed: ``[--json]`` and ``DIR...``."""
    word = word.removeprefix("[").removesuffix("]")
    return word.removesuffix("...") or word


def command_line(command: click.Command, words: Sequence[str], *, whole: bool) -> list[str]:
    """Return what click refuses of these words."""
    path = [command.name or ""]
    rest = list(words)
    while isinstance(command, click.Group):
        if not rest:
            return [f"`{path[-1]}` needs a subcommand"] if whole else []
        if rest[0].startswith("-"):
            break
        inner = command.get_command(click.Context(command), rest[0])
        if inner is None:
            return [f"`{path[-1]}` has no subcommand {rest[0]!r}"]
        command = inner
        path.append(rest.pop(0))
    try:
        _without_files(command).make_context(path[-1], rest)
    except (click.MissingParameter, click.BadOptionUsage) as error:
        return [f"`{path[-1]}`: {error.format_message()}"] if whole else []
    except click.exceptions.Exit:
        return []
    except click.UsageError as error:
        return [f"`{path[-1]}`: {error.format_message()}"]
    return []


def _without_files(command: click.Command) -> click.Command:
    """Return a copy that takes each word, option and choice as before, and looks for no file."""
    alike = copy.copy(command)
    alike.params = [copy.copy(parameter) for parameter in command.params]
    for parameter in alike.params:
        if isinstance(parameter.type, click.Path | click.File):
            parameter.type = click.STRING
        if not parameter.is_eager:
            parameter.callback = None
    return alike


def _values(words: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with targets and requirements."""
    for option, value in pairwise(words):
        if option in TARGET_OPTIONS and not STANDS_FOR.fullmatch(value):
            yield from _target(value)
        if option == "--requirement" and not STANDS_FOR.fullmatch(value):
            try:
                require_known([value])
            except click.UsageError as error:
                yield error.format_message()


def _target(spec: str) -> Iterator[str]:
    if spec.startswith("docker:"):
        return  # its daemon is asked
    kind, colon, rest = spec.partition(":")
    if kind == "command":
        file, comma, options = rest.partition(",")
        spec = f"{kind}{colon}{ROOT / file}{comma}{options}"
    try:
        for one in expand_targets(spec):
            parse_target(one)
    except TargetError as error:
        yield str(error)


def _parts(words: Sequence[str]) -> Iterator[str]:
    parts = DEEP if "--deep" in words else GATE
    try:
        named_slices(parts, [word for word in words if not word.startswith("-")])
    except UnknownPart as error:
        yield str(error)


def _missing_files(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        name = word.split("::")[0]
        if OF_A_FILE.fullmatch(name) and name not in FOR_EXAMPLE and not (ROOT / name).exists():
            yield f"no file {name}"
