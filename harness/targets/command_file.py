"""The file behind ``command:FILE``: how to start a broker of any kind, as TOML.

::

    command = ["{python}", "broker.py", "--port", "{port}", "--data", "{dir}"]
    implementation = "My broker"
    release = "1.2.3"                    # or: release_command = ["my-broker", "--version"]
    obtain = {go = "folder"}             # optional; or {pip = "requirements.txt"}: obtain.py
    working_directory = "."              # optional; from this file's folder, which is the default
    capabilities = ["own_broker"]        # optional; default none
    setting = ["--set", "{name}={value}"]    # for broker_config: added for each broker setting
    settings = ["num.partitions"]        # optional: the only ones that broker_config can set
    log_directories = ["{dir}"]          # for log_directory: where the partitions' folders lie

    [environment]                        # optional; added to ours
    LOG_LEVEL = "info"

    [readiness]                          # one of the two
    address = "127.0.0.1:{port}"         # answers there
    line = '^listening on (?P<host>\\S+):(?P<port>\\d+)$'    # says where; Python's re, each line

    [limits]                             # optional; defaults as here
    start_timeout_ms = 30000             # until it answers as a broker
    stop_timeout_ms = 0                  # after SIGTERM, until it is killed; 0: killed at once
    release_timeout_ms = 30000           # for release_command

Placeholders in ``command``, ``release_command``, ``environment``, ``working_directory`` and
``address``: ``{port}`` a free port of 127.0.0.1, ``{dir}`` a new folder that is removed with the
target, ``{python}`` the interpreter that runs us, ``{obtained}`` the folder that came of
``obtain``. ``{{port}}`` stands for the text ``{port}``.

What a capability of one broker promises here: ``stop_node`` ends in good order after SIGTERM,
within ``stop_timeout_ms``; ``restart_node`` runs ``command`` again with the same ``{port}`` and
``{dir}``, and the broker then has what it had stored; ``log_directory`` is what
``log_directories`` says. ``kill_node`` and ``pause_node`` are SIGKILL and SIGSTOP to its process
group; ``logs`` is what it prints.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.targets.errors import TargetError
from harness.targets.obtain import KINDS, BrokerSource
from harness.targets.target import (
    BROKER_CONFIG,
    CAPABILITIES,
    DISCONNECT_NODE,
    JOIN_AS_BROKER,
    LINKS,
    LOG_DIRECTORY,
    OWN_BROKER,
    POWER_LOSS,
    RESTART_NODE,
    STOP_NODE,
    UPGRADE,
)

PORT, SCRATCH, PYTHON, OBTAINED = "port", "dir", "python", "obtained"
PLACEHOLDERS = (PORT, SCRATCH, PYTHON, OBTAINED)
SETTING_PLACEHOLDERS = ("name", "value")
_BRACED = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")
LIMITS_MS = {"start_timeout_ms": 30_000, "stop_timeout_ms": 0, "release_timeout_ms": 30_000}
_TABLES = ("environment", "readiness", "limits")
_KEYS = ("command", "implementation", "release", "release_command", "obtain",
         "working_directory", "capabilities", "setting", "settings", "log_directories",
         *_TABLES)  # fmt: skip


_NEVER = {
    DISCONNECT_NODE: "disconnect_node cannot be had of a local process",
    JOIN_AS_BROKER: "join_as_broker: a file cannot say how to join it",
    LINKS: "links: a file cannot say how connections are led through proxies",
    POWER_LOSS: "power_loss: a file cannot say how all its data is put on another disk",
    UPGRADE: "upgrade: a file says how one release is started",
}
"""Capabilities that a file may not declare, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFile:
    """A file as it was read; texts still hold their placeholders.

    Exactly one of ``release`` and ``release_command``, of ``address`` and ``line`` is given.
    """

    path: Path
    command: tuple[str, ...]
    implementation: str
    release: str | None
    release_command: tuple[str, ...]
    obtain: BrokerSource | None
    working_directory: str
    capabilities: frozenset[str]
    setting: tuple[str, ...]
    settings: tuple[str, ...]
    log_directories: tuple[str, ...]
    environment: Mapping[str, str]
    address: str | None
    line: re.Pattern[str] | None
    start_timeout_ms: int
    stop_timeout_ms: int
    release_timeout_ms: int

    @property
    def takes_port(self) -> bool:
        """True if command or environment pass the port to the broker."""
        told = (*self.command, *self.environment.values())
        return any(PORT in placeholders(text) for text in told)

    @property
    def has_one_address(self) -> bool:
        """True if each start of the same target listens at the same address."""
        return self.takes_port or self.line is None


def placeholders(text: str) -> set[str]:
    """The names in braces within a text."""
    return {match[2] for match in _BRACED.finditer(text) if match[2]}


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders replaced."""
    return _BRACED.sub(lambda match: f"{{{match[1]}}}" if match[1] else values[match[2]], text)


def read_command_file(path: Path) -> CommandFile:
    """Read and check a file. Raises TargetError: which file, which key, what to do."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as problem:
        raise TargetError(f"{path}: cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise TargetError(f"{path}: is not TOML: {problem}") from problem
    return _Reader(path, values).file()


class _Reader:
    def __init__(self, path: Path, values: dict[str, Any]) -> None:
        self.path, self.values = path, values

    def fail(self, key: str, problem: str) -> TargetError:
        return TargetError(f"{self.path}: {key}: {problem}")

    def file(self) -> CommandFile:
        self.known(self.values, _KEYS, "")
        address, line = self.readiness()
        release, release_command = self.release()
        read = CommandFile(
            path=self.path,
            command=self.words("command", self.values.get("command"), needed=True),
            implementation=self.text("implementation", self.values.get("implementation")),
            release=release,
            release_command=release_command,
            obtain=self.obtain(),
            working_directory=self.text(
                "working_directory", self.values.get("working_directory", "."), PLACEHOLDERS
            ),
            capabilities=frozenset(self.capabilities()),
            setting=self.words("setting", self.values.get("setting", []), SETTING_PLACEHOLDERS),
            settings=self.words("settings", self.values.get("settings", []), ()),
            log_directories=self.words(
                "log_directories", self.values.get("log_directories", []), (SCRATCH,)
            ),
            environment=self.environment(),
            address=address,
            line=line,
            **self.limits(),
        )
        self.agree(read)
        return read

    def known(self, table: Collection[str], keys: Collection[str], place: str) -> None:
        for key in table:
            if key not in keys:
                near = _nearest(key, keys)
                raise self.fail(f"{place}{key}", f"unknown key{near}; known: {', '.join(keys)}")

    def table(self, name: str) -> dict[str, Any]:
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise self.fail(name, f"must be a table [{name}]")
        return value

    def text(self, key: str, value: Any, known: Collection[str] | None = None) -> str:
        """A text that is not empty; with ``known`` its placeholders are checked."""
        if value is None:
            raise self.fail(key, "is missing")
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise self.fail(key, f"must be a string that is not empty, is {value!r}")
        for name in sorted(placeholders(value)) if known is not None else ():
            if known is not None and name not in known:
                raise self.fail(
                    key,
                    f"unknown placeholder {{{name}}}{_nearest(name, known)}; known: "
                    f"{', '.join(f'{{{one}}}' for one in known)}. For the text itself write "
                    f"{{{{{name}}}}}",
                )
        return value

    def words(
        self, key: str, value: Any, known: Collection[str] = PLACEHOLDERS, *, needed: bool = False
    ) -> tuple[str, ...]:
        if value is None:
            raise self.fail(key, "is missing")
        if not isinstance(value, list) or (needed and not value):
            raise self.fail(key, 'must be a list of words, as ["program", "argument"]')
        for place, word in enumerate(value):
            if word != "" or place == 0:  # an argument may be empty, a program not
                self.text(f"{key}[{place}]", word, known)
        return tuple(value)

    def release(self) -> tuple[str | None, tuple[str, ...]]:
        given = [key for key in ("release", "release_command") if key in self.values]
        if len(given) != 1:
            raise self.fail("release", "give either release or release_command, one of the two")
        if given == ["release"]:
            return self.text("release", self.values["release"]), ()
        words = self.words("release_command", self.values["release_command"], needed=True)
        if any(PORT in placeholders(word) for word in words):
            raise self.fail("release_command", "there is no {port} for it: nothing listens yet")
        return None, words

    def obtain(self) -> BrokerSource | None:
        if "obtain" not in self.values:
            return None
        given = self.table("obtain")
        self.known(given, KINDS, "obtain.")
        if len(given) != 1:
            raise self.fail(
                "obtain", f"give one of {', '.join(KINDS)}, with a path beside the file"
            )
        [(kind, path)] = given.items()
        place = self.text(f"obtain.{kind}", path)
        return BrokerSource(kind, self.path.absolute().parent / place)

    def capabilities(self) -> tuple[str, ...]:
        names = self.words("capabilities", self.values.get("capabilities", []), ())
        for name in names:
            if name not in CAPABILITIES:
                raise self.fail(
                    "capabilities",
                    f"unknown capability {name!r}{_nearest(name, CAPABILITIES)}; known: "
                    f"{', '.join(CAPABILITIES)}",
                )
        return names

    def environment(self) -> dict[str, str]:
        given = self.table("environment")
        for name, value in given.items():
            if not name or "=" in name or "\0" in name:
                raise self.fail(f"environment.{name}", "is no name of a variable")
            if value != "":
                self.text(f"environment.{name}", value, PLACEHOLDERS)
        return given

    def readiness(self) -> tuple[str | None, re.Pattern[str] | None]:
        given = self.table("readiness")
        self.known(given, ("address", "line"), "readiness.")
        if len(given) != 1:
            raise self.fail(
                "readiness", "give either address or line, one of the two, in a table [readiness]"
            )
        if "address" in given:
            return self.text("readiness.address", given["address"], PLACEHOLDERS), None
        return None, self.line(given["line"])

    def line(self, value: Any) -> re.Pattern[str]:
        text = self.text("readiness.line", value)
        try:
            pattern = re.compile(text, re.MULTILINE)
        except re.error as problem:
            raise self.fail("readiness.line", f"is no regular expression: {problem}") from problem
        if "port" not in pattern.groupindex:
            raise self.fail(
                "readiness.line", r"needs a group (?P<port>\d+), and mostly (?P<host>\S+) before it"
            )
        return pattern

    def limits(self) -> dict[str, int]:
        given = self.table("limits")
        self.known(given, LIMITS_MS, "limits.")
        for key, value in given.items():
            if type(value) is not int or value < 0 or (value == 0 and LIMITS_MS[key]):
                raise self.fail(f"limits.{key}", f"must be whole milliseconds, is {value!r}")
        return {**LIMITS_MS, **given}

    def agree(self, read: CommandFile) -> None:
        """Check that the parts of the file agree; refuse a capability that could not be kept."""
        texts = (*read.command, *read.release_command, *read.environment.values())
        if (read.obtain is not None) != any(OBTAINED in placeholders(text) for text in texts):
            raise self.fail(
                "obtain",
                "belongs to {obtained} in a command: there what was obtained is found, as "
                '["{obtained}/my-broker"]',
            )
        if PORT in placeholders(read.address or "") and not read.takes_port:
            raise self.fail(
                "readiness.address", "has {port}, but neither command nor environment hands it over"
            )
        if OWN_BROKER in read.capabilities and not read.takes_port and read.line is None:
            raise self.fail(
                "capabilities",
                "own_broker needs {port} in the command (or readiness.line, with which each "
                "broker prints its own address): a second broker would take the first one's port",
            )
        if (BROKER_CONFIG in read.capabilities) != bool(read.setting):
            raise self.fail(
                "setting",
                "belongs to the capability broker_config: the words by which a setting is handed "
                'over, as ["--set", "{name}={value}"]',
            )
        if read.settings and not read.setting:
            raise self.fail("settings", "belongs to setting, by which each of them is handed over")
        if BROKER_CONFIG in read.capabilities and OWN_BROKER not in read.capabilities:
            raise self.fail("capabilities", "broker_config is for private brokers: add own_broker")
        self.agree_on_nodes(read)

    def agree_on_nodes(self, read: CommandFile) -> None:
        for capability, why in _NEVER.items():
            if capability in read.capabilities:
                raise self.fail("capabilities", why)
        if STOP_NODE in read.capabilities and not read.stop_timeout_ms:
            raise self.fail(
                "limits.stop_timeout_ms",
                "belongs to the capability stop_node: give the broker time to end after SIGTERM",
            )
        if RESTART_NODE in read.capabilities and not read.has_one_address:
            raise self.fail(
                "capabilities",
                "restart_node needs {port} in the command: it comes back where it was",
            )
        if (LOG_DIRECTORY in read.capabilities) != bool(read.log_directories):
            raise self.fail(
                "log_directories",
                'belongs to the capability log_directory: where partitions lie, as ["{dir}"]',
            )


def _nearest(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" - did you mean {near[0]!r}?" if near else ""
