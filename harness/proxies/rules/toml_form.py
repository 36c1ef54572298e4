"""Rules in a file: TOML, one ``[[rule]]`` for each, refused whole with file, line and what to do.

A ``seed = 7`` may stand before them. ``read_rules`` takes the same as a list of JSON objects.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.proxies.rules.errors import RuleError, unknown
from harness.proxies.rules.rule import Rule, read_rule

RULE = "rule"
FILE_KEYS = (RULE, "seed")
_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")
_PARTS = re.compile(_PART)

KeyPath = tuple[str, ...]
Place = Callable[[int, KeyPath], str]
"""From the place of a rule and a key in it to what stands before the problem."""


class RulesRefused(ValueError):
    """A set of rules with mistakes; none of them is armed. ``problems``: a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class RulesFile:
    """``seed``: None when the file has none."""

    rules: tuple[Rule, ...]
    seed: int | None = None


def read_rules_file(path: Path) -> RulesFile:
    """Raises RulesRefused."""
    try:
        text = path.read_text("utf-8")
    except OSError as problem:
        raise RulesRefused([f"{path}: cannot be read: {problem.strerror}"]) from problem
    except UnicodeDecodeError as problem:
        raise RulesRefused([f"{path}: is not TOML: {problem}"]) from problem
    return read_rules_text(text, str(path))


def read_rules_text(text: str, name: str = "rules") -> RulesFile:
    """Rules as TOML; ``name`` stands before each problem. Raises RulesRefused."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise RulesRefused([f"{name}: is not TOML: {problem}"]) from problem
    lines = dict(_lines_of_keys(text))
    tables, seed = values.get(RULE), values.get("seed")
    problems = [
        f"{name}:{lines.get((key,), 1)}: {unknown('key', key, FILE_KEYS)}"
        for key in values
        if key not in FILE_KEYS
    ]
    if seed is not None and type(seed) is not int:
        problems.append(f"{name}:{lines[('seed',)]}: seed: must be a whole number, is {seed!r}")
    if not isinstance(tables, list) or not tables:
        raise RulesRefused([*problems, f"{name}: holds no rule; write each as [[rule]]"])

    def place(index: int, key: KeyPath) -> str:
        return f"{name}{_line(lines, index, key)}"

    return RulesFile(tuple(_read_all(tables, place, problems)), seed)


def read_rules(values: Any) -> list[Rule]:
    """The rules of a list of JSON objects. Raises RulesRefused."""
    if not isinstance(values, list) or not values:
        raise RulesRefused([f"rules are a list of objects that is not empty, not {values!r}"])
    return _read_all(values, lambda index, _key: f"rule {index + 1}", [])


def _read_all(tables: Sequence[Any], place: Place, problems: list[str]) -> list[Rule]:
    """All of them; else all that is wrong with them, the first mistake of each."""
    rules: list[Rule] = []
    for index, words in enumerate(tables):
        try:
            if not isinstance(words, Mapping):
                raise RuleError(f"must be a table, is {words!r}")
            rules.append(read_rule(words))
        except RuleError as error:
            problems.append(f"{place(index, error.key)}: {_named(words)}{error}")
    if not problems:
        problems += _disagreements(tables, rules, place)
    if problems:
        raise RulesRefused(problems)
    return rules


def _named(words: Any) -> str:
    name = words.get("id") if isinstance(words, Mapping) else None
    return f'rule "{name}": ' if isinstance(name, str) else ""


def _disagreements(tables: Sequence[Any], rules: Sequence[Rule], place: Place) -> Iterator[str]:
    """Ids that stand there twice, and rules that are named and are not there."""
    ids = [rule.id for rule in rules]
    for index, rule in enumerate(rules):
        if rule.id in ids[:index]:
            error = RuleError("there is another rule of this id; give each its own", "id")
            yield f"{place(index, error.key)}: {_named(tables[index])}{error}"
        for key, named in rule.rules_named.items():
            if named not in ids:
                error = unknown("rule", named, ids, *key)
                yield f"{place(index, key)}: {_named(tables[index])}{error}"


def _line(lines: Mapping[KeyPath, int], index: int, key: KeyPath) -> str:
    """Of the longest part of the key that stands on a line of its own."""
    for length in range(len(key), -1, -1):
        found = lines.get((RULE, str(index), *key[:length]))
        if found:
            return f":{found}"
    return ""


def _lines_of_keys(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Each key and each table with the number of its line; ``[[rule]]`` with its place."""
    table: KeyPath = ()
    rule = -1
    for number, line in enumerate(text.splitlines(), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if key:
            yield (*table, *_parts(key[1])), number
        elif header:
            parts = _parts(header[2])
            if header[1] == "[[" and parts == (RULE,):
                rule += 1
            table = (RULE, str(rule), *parts[1:]) if parts[:1] == (RULE,) else parts
            yield table, number


def _parts(text: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in _PARTS.findall(text))
