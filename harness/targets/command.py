"""A broker of any kind, started by the command in a command file."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.base.address import Address
from harness.targets.address import parse_address
from harness.targets.command_file import (
    PLACEHOLDERS,
    SCRATCH,
    CommandFile,
    filled,
    placeholders,
    read_command_file,
)
from harness.targets.errors import MissingCapability, TargetError, TargetStartError
from harness.targets.kind import Making, TargetKind
from harness.targets.obtain import check_obtainable, obtain
from harness.targets.ports import free_ports
from harness.targets.process import ChildProcess, Deadline, reserve_log
from harness.targets.process_target import ProcessTarget
from harness.targets.ready import wait_until_ready
from harness.targets.start_again import StartAgain
from harness.targets.target import (
    BROKER_CONFIG,
    CAPABILITIES,
    DISCONNECT_NODE,
    JOIN_AS_BROKER,
    LINKS,
    LOG_DIRECTORY,
    POWER_LOSS,
    UPGRADE,
)

HOST = "127.0.0.1"
UNKNOWN_YET = "unknown"


class CommandTarget(ProcessTarget):
    """A broker that is started by the command in ``file``.

    ``release`` is known after the first start if the file has a command for it.
    """

    capabilities = frozenset(CAPABILITIES) - {
        DISCONNECT_NODE,
        JOIN_AS_BROKER,
        LINKS,
        POWER_LOSS,
        UPGRADE,
    }

    def __init__(
        self,
        file: CommandFile,
        spec: str,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Raises TargetError when the program or the working directory is not there (or cannot
        be obtained, where the file has ``obtain``: that is done at the first start).
        """
        super().__init__(log_dir)
        self.file = file
        self.spec = spec
        self.implementation = file.implementation
        self.release = file.release or UNKNOWN_YET
        self.capabilities = file.capabilities
        self.settings = dict(settings or {})
        self._port = 0
        self._obtained: Path | None = None
        self._check_program()

    def _called(self) -> str:
        return self.implementation

    # -- what is run ---------------------------------------------------------------------------

    def _check_program(self) -> None:
        """Raise TargetError early if a program is missing (where that can be known)."""
        if self.file.obtain is not None:
            check_obtainable(self.file.obtain)
        for key in ("command", "release_command"):
            words = getattr(self.file, key)
            texts = [*words[:1], self.file.working_directory, *self.file.environment.values()]
            if not words or any(placeholders(text) - {"python"} for text in texts):
                continue
            values = {"python": sys.executable}
            directory = self._directory(values)
            program = filled(words[0], values)
            search = self._environment(values).get("PATH", os.defpath)
            place = str(directory / program) if os.sep in program else program
            if shutil.which(place, path=search) is None:
                looked = "on PATH" if place == program else f"as {place}"
                raise TargetError(
                    f"{self.file.path}: {key}: there is no program {program!r} (looked for "
                    f"{looked}); install it, or give its path"
                )

    def _directory(self, values: Mapping[str, str]) -> Path:
        directory = self.file.path.absolute().parent / filled(self.file.working_directory, values)
        if not directory.is_dir():
            raise TargetError(f"{self.file.path}: working_directory: {directory} is no folder")
        return directory

    def _environment(self, values: Mapping[str, str]) -> dict[str, str]:
        own = {name: filled(text, values) for name, text in self.file.environment.items()}
        # What a Python program prints has to reach us at once.
        return {**os.environ, "PYTHONUNBUFFERED": "1", **own}

    def _words(self, values: Mapping[str, str]) -> list[str]:
        words = [filled(word, values) for word in self.file.command]
        for name, value in self.settings.items():
            words += [filled(word, {"name": name, "value": value}) for word in self.file.setting]
        return words

    # -- start and stop ------------------------------------------------------------------------

    def _launch(self) -> Address:
        if self.file.obtain is not None:
            self._obtained = obtain(self.file.obtain)
        if self.release == UNKNOWN_YET:
            self.release = self._ask_release()
        self._log_path = reserve_log(self._log_folder(), self.file.path.stem)
        self._make_data_dir()
        return self._run(*free_ports(1))

    def _launch_again(self, address: Address) -> None:
        found = self._run(self._port)
        if found != address:
            raise TargetStartError(
                f"{self._called()} listened at {address}, and started again at {found}"
            )

    def _run(self, port: int) -> Address:
        """Start the command with its log and data folder at this port; await its answer."""
        assert self._log_path is not None
        assert self.data_dir is not None
        self._port = port
        values = self._values(port, self.data_dir)
        child = self._child = ChildProcess(
            self._words(values),
            self._log_path,
            environment=self._environment(values),
            hold_fd=self._hold_fd,
            directory=self._directory(values),
        )
        deadline = Deadline(self.file.start_timeout_ms)
        try:
            return self._answering(child, values, deadline)
        except TargetStartError as problem:
            if self.file.takes_port and not child.is_alive() and is_taken(port):
                raise StartAgain(f"port {port} was taken by another process") from problem
            raise

    def _values(self, port: int | None, folder: Path) -> dict[str, str]:
        given = (str(port), str(folder), sys.executable, str(self._obtained))
        return dict(zip(PLACEHOLDERS, given, strict=True))

    def _answering(
        self, child: ChildProcess, values: Mapping[str, str], deadline: Deadline
    ) -> Address:
        """Wait until the broker answers as one; its address."""
        line = self.file.line
        if line is not None:
            says = f"a line that matches {line.pattern!r}"
            address = self._announced(child, line, says, deadline)
        else:
            address = self._told(filled(self.file.address or "", values))
        try:
            wait_until_ready(address, deadline.left_ms(), lambda: self._check_running(child))
        except TargetStartError as problem:
            if not child.is_alive():
                raise
            raise TargetStartError(
                f"{problem}; the log {child.log_path} of {self._called()} ends with\n{child.tail()}"
            ) from problem
        self._check_running(child)  # else another process answered on the port that we chose
        return address

    def _told(self, text: str) -> Address:
        try:
            return parse_address(text)
        except TargetError as problem:
            raise TargetError(f"{self.file.path}: readiness.address: {problem}") from problem

    def _ask_release(self) -> str:
        """The last line that ``release_command`` prints. Raises TargetStartError."""
        folder = Path(tempfile.mkdtemp(prefix="kafka-conformance-data-"))
        log = reserve_log(self._log_folder(), f"{self.file.path.stem}-release")
        values = self._values(None, folder)
        child = ChildProcess(
            [filled(word, values) for word in self.file.release_command],
            log,
            environment=self._environment(values),
            remove=folder,
            directory=self._directory(values),
        )
        try:
            code = child.wait(self.file.release_timeout_ms)
        finally:
            child.kill()
        lines = child.log_text().split("\n")
        said = [line.strip() for line in lines if line.strip()]
        if code == 0 and said:
            return said[-1]
        how = (
            f"did not end within {self.file.release_timeout_ms} ms"
            if code is None
            else f"ended with status {code}" + ("" if said else " and said nothing")
        )
        raise TargetStartError(
            f"{self.file.path}: release_command: {child.command[0]!r} {how}; its log {log} ends "
            f"with\n{child.tail()}"
        )

    def stop(self) -> None:
        if self._child is not None and self.file.stop_timeout_ms:
            self._child.terminate(self.file.stop_timeout_ms)
        self._end()

    def _stop_timeout_ms(self) -> int:
        return self.file.stop_timeout_ms

    def log_directories(self, node: int) -> list[Path]:
        self.require(LOG_DIRECTORY)
        self.address_of(node)
        values = {SCRATCH: str(self.data_dir)}
        return [Path(filled(text, values)) for text in self.file.log_directories]

    def _another(self, settings: dict[str, str]) -> CommandTarget:
        if self.file.settings and not settings.keys() <= set(self.file.settings):
            raise MissingCapability(BROKER_CONFIG, self.spec)
        another = CommandTarget(
            self.file,
            self.spec,
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
        )
        another.release = self.release
        return another


def is_taken(port: int) -> bool:
    """True if a process holds this port of 127.0.0.1."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HOST, port))
        except OSError:
            return True
    return False


def _make(rest: str | None, making: Making) -> CommandTarget:
    if not rest:
        raise TargetError("a TOML file is missing; its form: harness/targets/command_file.py")
    return CommandTarget(read_command_file(Path(rest)), f"command:{rest}", log_dir=making.log_dir)


KIND = TargetKind(
    name="command",
    form="command:FILE",
    example="command:docker/librdkafka-mock.toml",
    meaning="any broker, started by the command in a TOML file, which also grants capabilities",
    capabilities=CommandTarget.capabilities,
    make=_make,
)
