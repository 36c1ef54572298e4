"""Target strings: ``reference``, ``external:HOST:PORT[,HOST:PORT]``, ``kafka:RELEASE``, ...

Each kind's own module says what it is and how it is made; a new kind is one line here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.base.suggestion import did_you_mean
from harness.targets import by_document, command, external_spec, kafka_spec, reference
from harness.targets.containers import kind as containers
from harness.targets.errors import TargetError
from harness.targets.kind import Making, TargetKind
from harness.targets.pinned_file import Progress
from harness.targets.target import Target

_KINDS: dict[str, TargetKind] = {
    kind.name: kind
    for kind in (
        reference.KIND,
        kafka_spec.KIND,
        external_spec.KIND,
        command.KIND,
        containers.KIND,
        by_document.KIND,
    )
}
_NAME = re.compile(r"[^:,]*")


def target_kinds() -> list[TargetKind]:
    """Every form of target string that :func:`parse_target` knows."""
    return list(_KINDS.values())


def parse_target(
    spec: str, *, log_dir: Path | None = None, progress: Progress | None = None
) -> Target:
    """The target that a string names, not yet started.

    ``log_dir`` gets its logs; ``progress`` is called with (bytes done, bytes total) while
    artifacts are downloaded at the start. Raises TargetError: what is wrong, and what exists; a
    string that means several targets is refused, see :func:`expand_targets`.
    """
    kind, rest = _kind_of(spec)
    try:
        return kind.make(rest, Making(log_dir, progress))
    except TargetError as problem:
        raise _bad(spec, kind, problem) from problem


def expand_targets(spec: str) -> list[str]:
    """The target strings that one string means: ``kafka:3.8.1..3.9.2`` names two.

    Itself, in a list, where it names one. Nothing is made, so a string that names one may still
    be refused by :func:`parse_target`. Raises TargetError.
    """
    kind, rest = _kind_of(spec)
    if kind.expand is None:
        return [spec.strip()]
    try:
        return kind.expand(rest)
    except TargetError as problem:
        raise _bad(spec, kind, problem) from problem


def expand_all(specs: Sequence[str]) -> list[str]:
    """All that is meant by several strings, in order. Raises TargetError."""
    return [each for spec in specs for each in expand_targets(spec)]


def _kind_of(spec: str) -> tuple[TargetKind, str | None]:
    """The kind, and what follows its name: None, what is behind a colon, or a comma and more."""
    text = spec.strip()
    match = _NAME.match(text)
    name = match[0] if match else ""
    if name not in _KINDS:
        forms = ", ".join(kind.form for kind in target_kinds())
        near = did_you_mean(name, _KINDS) or "."
        raise TargetError(f"unknown target {spec!r}{near} The forms are: {forms}")
    rest = text[len(name) :]
    return _KINDS[name], (rest.removeprefix(":") if rest else None)


def _bad(spec: str, kind: TargetKind, problem: TargetError) -> TargetError:
    dot = "" if str(problem).endswith(".") else "."
    return TargetError(
        f"bad target {spec!r}: {problem}{dot} Its form is {kind.form}, for example {kind.example}"
    )
