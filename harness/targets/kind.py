"""One kind of target: the form of its strings, its options, its maker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.suggestion import did_you_mean
from harness.targets.errors import TargetError
from harness.targets.pinned_file import Progress
from harness.targets.target import Target


@dataclass(frozen=True)
class Making:
    """The arguments of a maker besides the string: ``log_dir`` gets the logs, ``progress`` is
    called with (bytes done, bytes total) while artifacts are downloaded at the start."""

    log_dir: Path | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class TargetKind:
    """One form of target string; a kind's own module has one, ``spec.py`` lists them.

    ``form`` as typed, ``meaning`` one sentence, ``options``: name (``set.NAME`` for any that
    begins so) -> meaning. ``make`` gets what follows the name: None for the name alone, what
    follows a colon, or a comma and what follows it (so ``split_options`` gives "" as the first
    word). ``expand`` gets the same and returns the target strings that are meant, where one
    string may mean several.
    """

    name: str
    form: str
    example: str
    meaning: str
    capabilities: frozenset[str]
    make: Callable[[str | None, Making], Target]
    options: Mapping[str, str] = field(default_factory=dict)
    expand: Callable[[str | None], list[str]] | None = None


def choose(option: str, value: str, known: Mapping[str, str] | list[str]) -> str:
    """The value of an option that takes one of a few; raises TargetError with the nearest."""
    if value not in known:
        near = did_you_mean(value, known)
        raise TargetError(f"{option}={value}: no such value{near}; known: {', '.join(known)}")
    return value


def settings_among(options: Mapping[str, str], prefix: str = "set.") -> dict[str, str]:
    """The broker settings among the options, by Kafka's names. Raises TargetError: no name."""
    found = {name.removeprefix(prefix): value for name, value in options.items()
             if name.startswith(prefix)}  # fmt: skip
    if "" in found:
        raise TargetError(f"the option {prefix!r} lacks the name of a setting: {prefix}NAME=VALUE")
    return found


def refuse_words(words: list[str], after: str) -> None:
    """Raises TargetError at a word without ``=`` where only options may stand."""
    if words:
        raise TargetError(
            f"{words[0]!r} after {after} is no option NAME=VALUE (a value has no comma)"
        )
