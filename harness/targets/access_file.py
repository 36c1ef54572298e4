"""The file behind ``external:...,profile=FILE``: the actions that its cluster's owner allows.

.. code-block:: toml

    implementation = "Apache Kafka"      # optional; "external" without
    release = "3.9.2"                    # optional; "unknown" without
    name_prefix = "team-a.kc-"           # optional; begins all that we make there; "kc-" without
    create_topics = true                 # optional; may tests make topics? true without
    safety = ["read", "own-names"]       # optional; as here without. "destructive" is refused

    [commands]                           # optional; what is done to one node, as lists of words
    stop = ["ssh", "{host}", "systemctl", "stop", "kafka"]
    kill = ["ssh", "{host}", "systemctl", "kill", "-s", "KILL", "kafka"]
    restart = ["ssh", "{host}", "systemctl", "restart", "kafka"]
    pause = ["ssh", "{host}", "systemctl", "kill", "-s", "STOP", "kafka"]
    resume = ["ssh", "{host}", "systemctl", "kill", "-s", "CONT", "kafka"]
    disconnect = ["./firewall", "{node}", "down"]
    reconnect = ["./firewall", "{node}", "up"]

    [addresses]                          # optional; as the cluster lists a broker = from here
    "kafka-1.internal:9092" = "10.0.0.5:19092"

    [log_directories]                    # optional; by broker id: folders that we can read
    1 = ["/data/kafka-1"]

    [logs]                               # optional; one of the two
    file = "/var/log/kafka-{node}/server.log"
    command = ["ssh", "{host}", "journalctl", "-u", "kafka", "-n", "1000"]

    [limits]                             # optional; defaults as here
    command_timeout_ms = 60000           # for each command
    answer_timeout_ms = 60000            # until a node answers again, or no longer answers

Placeholders in ``commands`` and ``logs``: ``{node}`` the broker id, ``{host}`` and ``{port}`` where
clients reach it. ``{{node}}`` stands for the text ``{node}``. Commands run in this file's folder,
and relative paths are from there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base.address import Address
from harness.base.own_names import DEFAULT_PREFIX, prefix_problem
from harness.base.suggestion import did_you_mean
from harness.targets.address import parse_address
from harness.targets.command_file import placeholders
from harness.targets.errors import TargetError
from harness.targets.target import (
    CREATE_TOPICS,
    DISCONNECT_NODE,
    KILL_NODE,
    LOG_DIRECTORY,
    LOGS,
    PAUSE_NODE,
    RESTART_NODE,
    SAFETY_CLASSES,
    STOP_NODE,
)

PLACEHOLDERS = ("node", "host", "port")
NEVER = "destructive"
COMMANDS_OF = {
    STOP_NODE: ("stop",),
    KILL_NODE: ("kill",),
    PAUSE_NODE: ("pause", "resume"),
    RESTART_NODE: ("restart",),
    DISCONNECT_NODE: ("disconnect", "reconnect"),
}
"""Capability to the commands that it needs."""
LIMITS_MS = {"command_timeout_ms": 60_000, "answer_timeout_ms": 60_000}
_COMMANDS = [name for names in COMMANDS_OF.values() for name in names]
_TABLES = ("commands", "addresses", "log_directories", "logs", "limits")
_KEYS = ("implementation", "release", "name_prefix", "create_topics", "safety", *_TABLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFile:
    """A file as it was read; texts still hold their placeholders.

    ``log_directories``: broker id -> folders. ``addresses``: as the cluster lists a broker -> where
    this machine reaches it. At most one of ``logs_file`` and ``logs_command``.
    """

    path: Path
    implementation: str = "external"
    release: str = "unknown"
    name_prefix: str = DEFAULT_PREFIX
    create_topics: bool = True
    safety: frozenset[str] = frozenset(SAFETY_CLASSES) - {NEVER}
    commands: Mapping[str, tuple[str, ...]]
    log_directories: Mapping[int, tuple[Path, ...]]
    addresses: Mapping[Address, Address] = field(default_factory=dict)
    logs_file: str | None = None
    logs_command: tuple[str, ...] = ()
    command_timeout_ms: int
    answer_timeout_ms: int

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities that the file grants, by the names of a target's capabilities."""
        granted = {name for name, needed in COMMANDS_OF.items() if needed[0] in self.commands}
        granted |= {CREATE_TOPICS} if self.create_topics else set()
        granted |= {LOG_DIRECTORY} if self.log_directories else set()
        granted |= {LOGS} if self.logs_file or self.logs_command else set()
        return frozenset(granted)

    @property
    def folder(self) -> Path:
        """The folder in which commands run and relative paths begin."""
        return self.path.absolute().parent


def read_access_file(path: Path) -> AccessFile:
    """Read and check a file. Raises TargetError: file and line, which key, what to do."""
    try:
        text = path.read_text("utf-8")
        values = tomllib.loads(text)
    except OSError as problem:
        raise TargetError(f"{path}: cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise TargetError(f"{path}: is not TOML: {problem}") from problem
    return _Reader(path, text, values).file()


class _Reader:
    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self.path, self.values = path, values
        self._lines = dict(_lines_of_keys(text))

    def fail(self, key: str, problem: str) -> TargetError:
        """At the key's line, or that of the table that it stands in."""
        table = key.split(".", maxsplit=1)[0]
        line = self._lines.get(key) or self._lines.get(table)
        return TargetError(f"{self.path}{f':{line}' if line else ''}: {key}: {problem}")

    def file(self) -> AccessFile:
        self.known(self.values, _KEYS, "")
        commands = dict(self.commands())
        file = AccessFile(
            path=self.path,
            commands=commands,
            log_directories=dict(self.log_directories()),
            addresses=dict(self.addresses()),
            **self.plain(),
            **self.logs(),
            **self.limits(),
        )
        self.agree(file)
        return file

    def plain(self) -> dict[str, Any]:
        """The keys outside of any table that are there."""
        readers = {
            "implementation": self.text,
            "release": self.text,
            "name_prefix": self.prefix,
            "create_topics": self.flag,
            "safety": self.safety,
        }
        return {key: read(key, self.values[key]) for key, read in readers.items()
                if key in self.values}  # fmt: skip

    def known(self, table: Collection[str], keys: Collection[str], place: str) -> None:
        for key in table:
            if key not in keys:
                near = did_you_mean(key, keys)
                raise self.fail(f"{place}{key}", f"unknown key{near}; known: {', '.join(keys)}")

    def table(self, name: str, keys: Collection[str] | None) -> dict[str, Any]:
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise self.fail(name, f"must be a table [{name}]")
        if keys is not None:
            self.known(value, keys, f"{name}.")
        return value

    def text(self, key: str, value: Any, known: Collection[str] | None = None) -> str:
        """A text that is not empty; with ``known`` its placeholders are checked."""
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise self.fail(key, f"must be a string that is not empty, is {value!r}")
        for name in sorted(placeholders(value)) if known is not None else ():
            if name not in PLACEHOLDERS:
                near = did_you_mean(name, PLACEHOLDERS)
                shown = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                raise self.fail(
                    key,
                    f"unknown placeholder {{{name}}}{near}; known: {shown}. For the text itself "
                    f"write {{{{{name}}}}}",
                )
        return value

    def words(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise self.fail(key, 'must be a list of words, as ["program", "argument"]')
        for place, word in enumerate(value):
            if word != "" or place == 0:  # an argument may be empty, a program not
                self.text(key, word, PLACEHOLDERS)
        return tuple(value)

    def prefix(self, key: str, value: Any) -> str:
        text = self.text(key, value)
        problem = prefix_problem(text)
        if problem:
            raise self.fail(key, f"{text!r} {problem}")
        return text

    def flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.fail(key, f"must be true or false, is {value!r}")
        return value

    def safety(self, key: str, value: Any) -> frozenset[str]:
        allowed = [name for name in SAFETY_CLASSES if name != NEVER]
        if not isinstance(value, list) or not value:
            raise self.fail(key, f"must be a list of {', '.join(allowed)}, not empty")
        for name in value:
            if name == NEVER:
                raise self.fail(
                    key, f"{NEVER!r} cannot be granted: no such request is ever sent to a cluster "
                    "that others use"
                )  # fmt: skip
            if name not in allowed:
                near = did_you_mean(str(name), allowed)
                raise self.fail(key, f"no safety class {name!r}{near}; known: {', '.join(allowed)}")
        return frozenset(value)

    def commands(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        given = self.table("commands", _COMMANDS)
        for name, value in given.items():
            yield name, self.words(f"commands.{name}", value)
        for needed in COMMANDS_OF.values():
            lacking = [name for name in needed if name not in given]
            if lacking and len(lacking) < len(needed):
                there = next(name for name in needed if name in given)
                raise self.fail(f"commands.{there}", f"needs {lacking[0]} beside it")

    def log_directories(self) -> Iterator[tuple[int, tuple[Path, ...]]]:
        for node, value in self.table("log_directories", None).items():
            key = f"log_directories.{node}"
            if not node.isdecimal():
                raise self.fail(key, "is no broker id, a whole number")
            if not isinstance(value, list) or not value:
                raise self.fail(key, 'must be a list of folders, as ["/data/kafka-1"]')
            folders = [self.path.absolute().parent / self.text(key, one) for one in value]
            yield int(node), tuple(folders)

    def addresses(self) -> Iterator[tuple[Address, Address]]:
        for listed, here in self.table("addresses", None).items():
            key = f"addresses.{listed}"
            try:
                yield parse_address(listed), parse_address(self.text(key, here))
            except TargetError as problem:
                raise self.fail(key, f'{problem}; write "listed:9092" = "here:19092"') from problem

    def logs(self) -> dict[str, Any]:
        given = self.table("logs", ("file", "command"))
        if len(given) > 1:
            raise self.fail("logs.command", "give either file or command, one of the two")
        if "file" in given:
            return {"logs_file": self.text("logs.file", given["file"], PLACEHOLDERS)}
        if "command" in given:
            return {"logs_command": self.words("logs.command", given["command"])}
        return {}

    def limits(self) -> dict[str, Any]:
        given = self.table("limits", LIMITS_MS)
        for key, value in given.items():
            if type(value) is not int or value <= 0:
                raise self.fail(f"limits.{key}", f"must be whole milliseconds, is {value!r}")
        return {**LIMITS_MS, **given}

    def agree(self, file: AccessFile) -> None:
        """Topics are made by requests that change what they name."""
        if file.create_topics and "own-names" not in file.safety:
            raise self.fail(
                "safety", 'without "own-names" no topic can be made: say create_topics = false too'
            )


def _lines_of_keys(text: str) -> Iterator[tuple[str, int]]:
    """Each key as ``table.key``, and each table, with the number of its line."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*([\w\"'.-]+)\s*\]", line)
        key = re.match(r"\s*([\w\"'.-]+)\s*=", line)
        if header:
            table = header[1].replace('"', "").replace("'", "")
            yield table, number
        elif key:
            name = key[1].replace('"', "").replace("'", "")
            yield (f"{table}.{name}" if table else name), number
