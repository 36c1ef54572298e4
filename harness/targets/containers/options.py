"""The text after ``docker:``, parsed strictly."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.suggestion import did_you_mean
from harness.targets.command_file import placeholders
from harness.targets.containers.image_contract import PLACEHOLDERS
from harness.targets.errors import TargetError
from harness.targets.kind import choose
from harness.targets.options import split_options

PUBLISHED, HOST = "published", "host"
NETWORKS = {
    PUBLISHED: "the port is published at 127.0.0.1; the broker can be cut off",
    HOST: "the broker shares our network",
}
PORT = 9092
OPTIONS = {
    "network": "published (the default) or host",
    "port": f"where the broker listens inside the container, by default {PORT} "
    "(network=host: a free port)",
    "env.NAME": "an environment variable; {port} and other placeholders are filled in",
    "env_file": "a file of lines NAME=VALUE, for values with commas",
    "command": "the words that the container is started with, instead of the image's",
    "implementation": "the name of the implementation, for an image without a label for it",
    "release": "the version, for an image without a label for it",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class ContainerOptions:
    """The options of a container; ``spec`` is the text that contains them.

    ``port``: where the broker listens inside the container, None for a free one. Texts of
    ``environment`` and ``command`` (empty: the image's own) still hold their placeholders.
    """

    spec: str
    image: str
    network: str = PUBLISHED
    port: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    implementation: str | None = None
    release: str | None = None


def read_options(rest: str | None) -> ContainerOptions:
    """``IMAGE[,NAME=VALUE...]``. Raises TargetError: what is wrong, and what would be right."""
    known = [name.removesuffix("NAME") for name in OPTIONS]
    words, options = split_options(rest or "", known)
    if not words or not words[0] or words[0].isspace():
        raise TargetError("an image is missing: its name in the Docker daemon, with its tag")
    if len(words) > 1:
        raise TargetError(
            f"{words[1]!r} is no option NAME=VALUE; a value with a comma goes into an env_file"
        )
    environment = _environment(options)
    command = _command(options.get("command", ""))
    for text in (*environment.values(), *command):
        _check_placeholders(text)
    return ContainerOptions(
        spec=f"docker:{rest}",
        image=words[0],
        network=choose("network", options.get("network", PUBLISHED), NETWORKS),
        port=_port(options["port"]) if "port" in options else None,
        environment=environment,
        command=command,
        implementation=options.get("implementation"),
        release=options.get("release"),
    )


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65_535:
        raise TargetError(f"port={text}: there is no such port; ports go from 1 to 65535")
    return int(text)


def _command(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as problem:
        raise TargetError(f"command={text}: {problem}") from problem


def _environment(options: Mapping[str, str]) -> dict[str, str]:
    """Those of the file, and over them those given by name."""
    found = _read_env_file(Path(options["env_file"])) if "env_file" in options else {}
    for option, value in options.items():
        if option.startswith("env."):
            found[_checked_name(option.removeprefix("env."), option)] = value
    return found


def _read_env_file(path: Path) -> dict[str, str]:
    """Lines NAME=VALUE as docker's ``--env-file`` has them; empty ones and # comments are not."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as problem:
        raise TargetError(f"env_file={path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise TargetError(f"env_file={path}: is not UTF-8: {problem}") from problem
    return dict(_assignments(lines, path))


def _assignments(lines: Iterable[str], path: Path) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise TargetError(f"env_file={path}, line {number}: not NAME=VALUE: {line!r}")
        yield _checked_name(name.strip(), f"env_file={path}, line {number}"), value


def _checked_name(name: str, where: str) -> str:
    if not _NAME.fullmatch(name):
        raise TargetError(f"{where}: {name!r} is no name of an environment variable")
    return name


def _check_placeholders(text: str) -> None:
    for name in sorted(placeholders(text) - set(PLACEHOLDERS)):
        there = ", ".join(PLACEHOLDERS)
        raise TargetError(
            f"unknown placeholder {{{name}}}{did_you_mean(name, PLACEHOLDERS)} in {text!r}; "
            f"known: {there}; braces that are meant are doubled"
        )
