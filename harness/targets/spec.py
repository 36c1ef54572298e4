"""Target strings: ``reference``, ``external:HOST:PORT[,HOST:PORT]``, ``kafka:RELEASE``, ..."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.targets.artifacts import pinned_releases
from harness.targets.command import CommandTarget
from harness.targets.command_file import read_command_file
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.external_spec import FORM as EXTERNAL_FORM
from harness.targets.external_spec import external_target
from harness.targets.kafka_process import KafkaProcess
from harness.targets.pinned_file import Progress
from harness.targets.reference import ReferenceBroker
from harness.targets.target import Target


@dataclass(frozen=True)
class TargetKind:
    """One form of target string, for listings: ``form`` as typed, ``meaning`` one sentence."""

    name: str
    form: str
    example: str
    meaning: str
    capabilities: frozenset[str]


@dataclass(frozen=True)
class _Options:
    log_dir: Path | None
    progress: Progress | None


def _reference(rest: str | None, options: _Options) -> Target:
    if rest is not None:
        raise TargetError(f"reference takes nothing after the name, but {rest!r} was given")
    return ReferenceBroker(log_dir=options.log_dir)


def _external(rest: str | None, options: _Options) -> Target:
    return external_target(rest, options.log_dir)


def _kafka(rest: str | None, options: _Options) -> Target:
    releases = pinned_releases()
    if not rest:
        raise TargetError(f"a release is missing; pinned: {', '.join(releases)}")
    if rest not in releases:
        raise TargetError(
            f"Kafka {rest!r} is not pinned{_did_you_mean(rest, releases)} "
            f"These are pinned: {', '.join(releases)}"
        )
    return KafkaProcess(rest, log_dir=options.log_dir, progress=options.progress)


def _command(rest: str | None, options: _Options) -> Target:
    if not rest:
        raise TargetError("a TOML file is missing; harness/targets/command_file.py tells its form")
    file = read_command_file(Path(rest))
    return CommandTarget(file, f"command:{rest}", log_dir=options.log_dir)


_KINDS: dict[str, tuple[TargetKind, Callable[[str | None, _Options], Target]]] = {
    kind.name: (kind, make)
    for kind, make in (
        (
            TargetKind(
                "reference",
                "reference",
                "reference",
                "the broker built into this suite",
                ReferenceBroker.capabilities,
            ),
            _reference,
        ),
        (
            TargetKind(
                "external",
                EXTERNAL_FORM,
                "external:127.0.0.1:9092",
                "a broker or cluster that runs already (IPv6 in brackets); a file can tell what "
                "may be done to it",
                ExternalBroker.capabilities,
            ),
            _external,
        ),
        (
            TargetKind(
                "kafka",
                "kafka:RELEASE",
                "kafka:4.4.0",
                "a released Apache Kafka, downloaded once and run as a local process",
                KafkaProcess.capabilities,
            ),
            _kafka,
        ),
        (
            TargetKind(
                "command",
                "command:FILE",
                "command:docker/librdkafka-mock.toml",
                "any broker, started by the command in a TOML file, which also grants capabilities",
                CommandTarget.capabilities,
            ),
            _command,
        ),
    )
}


def target_kinds() -> list[TargetKind]:
    """Every form of target string that :func:`parse_target` knows."""
    return [kind for kind, _ in _KINDS.values()]


def parse_target(
    spec: str, *, log_dir: Path | None = None, progress: Progress | None = None
) -> Target:
    """The target that a string names, not yet started.

    ``log_dir`` gets its logs; ``progress`` is called with (bytes done, bytes total) while
    artifacts are downloaded at the start. Raises TargetError: what is wrong, and what exists.
    """
    name, colon, rest = spec.strip().partition(":")
    if name not in _KINDS:
        forms = ", ".join(kind.form for kind in target_kinds())
        raise TargetError(
            f"unknown target {spec!r}{_did_you_mean(name, list(_KINDS))} The forms are: {forms}"
        )
    kind, make = _KINDS[name]
    try:
        return make(rest if colon else None, _Options(log_dir, progress))
    except TargetError as problem:
        raise TargetError(
            f"bad target {spec!r}: {problem}. Its form is {kind.form}, for example {kind.example}"
        ) from problem


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f" - did you mean {near[0]!r}?" if near else "."
