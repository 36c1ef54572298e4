"""Owner of an external broker, which we may control by the commands of an access file."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import tomlkit

from harness.targets.external import ExternalBroker
from harness.targets.ports import free_ports
from harness.targets.spec import parse_target

ROOT = Path(__file__).parents[2]
CONTROL = """
import os, psutil, signal, subprocess, sys
word, port, folder = sys.argv[1:]
pid_file = f"{folder}/pid"
def end(pid):
    try:
        process = psutil.Process(pid)
        process.kill()
        process.wait()
    except psutil.NoSuchProcess:
        pass
def tell(number):
    os.kill(int(open(pid_file).read()), number)
if word == "restart":
    if os.path.exists(pid_file):
        end(int(open(pid_file).read()))
    log = open(f"{folder}/broker.log", "ab")
    words = ["-u", "-m", "tests.targets.stand_in", f"port={port}", f"data={folder}/data-1"]
    command = [sys.executable, *words]
    child = subprocess.Popen(command, cwd=%r, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    open(pid_file, "w").write(str(child.pid))
else:
    tell({"stop": signal.SIGTERM, "kill": signal.SIGKILL,
          "pause": signal.SIGSTOP, "resume": signal.SIGCONT}[word])
"""


class Owner:
    """Owner of an external broker, and the access file for it."""

    def __init__(self, folder: Path) -> None:
        self.folder, (self.port,) = folder, free_ports(1)
        self.control = folder / "control.py"
        self.control.write_text(CONTROL % str(ROOT), "utf-8")
        self.path = folder / "access.toml"
        self.limits = {"command_timeout_ms": 20_000, "answer_timeout_ms": 30_000}
        self.commands = {
            word: [sys.executable, str(self.control), word, "{port}", str(folder)]
            for word in ("stop", "kill", "restart", "pause", "resume")
        }
        (folder / "data-1").mkdir()
        starting = self.target()
        starting.nodes, starting.addresses = [1], starting.bootstrap
        starting.restart_node(1)

    def end(self) -> None:
        """End the broker, whatever state it is in."""
        if psutil.pid_exists(self.pid):
            process = psutil.Process(self.pid)
            process.kill()
            process.wait()

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def target(self, **commands: list[str] | None) -> ExternalBroker:
        """A target with other commands in place of the owner's; None removes one."""
        given = {word: line for word, line in {**self.commands, **commands}.items() if line}
        values = {
            "release": "1",
            "commands": given,
            "log_directories": {"1": ["data-1"]},
            "logs": {"file": "broker.log"},
            "limits": self.limits,
        }
        self.path.write_text(tomlkit.dumps(values), "utf-8")
        target = parse_target(f"external:localhost:{self.port},profile={self.path}")
        assert isinstance(target, ExternalBroker)
        return target
