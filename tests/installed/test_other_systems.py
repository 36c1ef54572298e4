"""The commands of the core, and the fixtures, on a system without what Windows lacks.

The system is this one, with those parts of Python taken away (``other_system``). One file of the
product has what stands in their place, and no other uses them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.installed.conftest import ROOT
from tests.installed.other_system.absent_names import MODULES, NAMES, USED_BY_OTHERS

OTHER_SYSTEM = Path(__file__).parent / "other_system"
ABSENT = {
    module: {*NAMES.get(module, ()), *USED_BY_OTHERS.get(module, ())}
    for module in {*NAMES, *USED_BY_OTHERS}
}
ONLY_WITH_FORK = {
    "base/operating_system.py": "finds out what the system has",
    "targets/warden.py": "warden_without_fork.py stands in its place",
    "targets/fork_server.py": "imported by forking.py alone",
    "targets/forking.py": "imported by starting.py where there is fork",
    "targets/freezing.py": "no process can be paused elsewhere",
    "targets/external_nodes.py": "the words of the commands are for a Unix shell",
    "targets/containers/": "needs a Docker daemon, or root on Linux",
    "targets/librdkafka_mock.py": "a program of its own",
    "power_loss/": "needs loop devices of Linux",
    "clients/session.py": "of `clients`",
    "commands/jobs.py": "of `run`",
}
"""Files and folders of harness that may use what Windows lacks -> the reason."""
USES = re.compile(
    rf"\b({'|'.join(ABSENT)})(?:\.| import [^\n]*\b)(\w+)|^\s*(?:import|from) (\w+)", re.MULTILINE
)
"""A name of such a module, or a module that is imported."""
LISTENS = "listening on "


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{OTHER_SYSTEM}{os.pathsep}{ROOT}"}


def _python(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *map(str, words)],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER_S,
        check=False,
    )


def _invoke(folder: Path, *lines: tuple[list[str], str]) -> list[str]:
    """The output of each command, with its input; all of them pass."""
    ended = _python(OTHER_SYSTEM / "commands.py", json.dumps(lines), folder=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads(ended.stdout)
    for (words, _), (code, said) in zip(lines, found, strict=True):
        assert code == 0, (words, said)
    return [said for _, said in found]


@contextmanager
def _serving(folder: Path, *words: object) -> Iterator[IO[str]]:
    """A command that serves until SIGINT, and ends in good order then; its output."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "harness.cli", *map(str, words)],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        try:
            yield serving.stdout
        finally:
            serving.send_signal(signal.SIGINT)
            assert serving.wait(HANGS_AFTER_S) == 0


def _after(output: IO[str], begin: str) -> str:
    """The rest of the first line that begins so."""
    line = next(line for line in output if line.startswith(begin))
    return line.removeprefix(begin).strip()


@pytest.mark.rotates(4)
def test_broker_proxy_talk_log_and_codec_work(tmp_path: Path) -> None:
    data = tmp_path / "data"
    create = {"topics": [{"name": "t", "num_partitions": 1, "replication_factor": 1}]}
    with _serving(tmp_path, "broker", "--port", 0, "--data-dir", data) as broker:
        address = _after(broker, LISTENS)
        again = _python("-m", "harness.cli", "broker", "--port", 0, "--data-dir", data,
                        folder=tmp_path)  # fmt: skip
        assert (again.returncode, "another node uses this folder" in again.stderr) == (1, True)
        with _serving(tmp_path, "proxy", "--upstream", address) as proxy:
            through = ["--target", f"external:{_proxied(proxy)}"]
            _, written, read, dumped = _invoke(
                tmp_path,
                (["talk", "ask", *through, "CreateTopics", json.dumps(create)], ""),
                (["talk", "produce", *through, "t"], "first\nsecond\n"),
                (["talk", "consume", *through, "t"], ""),
                (["codec", "decode", "--api", "Heartbeat", "--version", "0", "--kind", "response",
                  "0019"], ""),
            )  # fmt: skip
    assert json.loads(written)["base_offset"] == 0
    assert [json.loads(line)["value"] for line in read.splitlines()] == ["first", "second"]
    assert "25" in dumped
    assert (data / ".kafka_cleanshutdown").exists()
    (verified,) = _invoke(tmp_path, (["log", "verify", str(data)], ""))
    assert "all is sound" in verified


def _proxied(output: IO[str]) -> str:
    return next(output).split()[0]


@pytest.mark.rotates(4)
def test_the_fixtures_give_a_broker_that_can_be_ended_but_not_paused(tmp_path: Path) -> None:
    words = (
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        tmp_path,
        "-q",
        "-p",
        "harness.fixtures",
    )
    tests = OTHER_SYSTEM / "borrowed_broker.py"
    ended = _python("-m", "pytest", *words, tests, folder=tmp_path)
    assert "4 passed" in ended.stdout, ended.stdout + ended.stderr


def _may_use(file: Path) -> bool:
    name = file.relative_to(ROOT / "harness").as_posix()
    return any(name == one or (one[-1] == "/" and name.startswith(one)) for one in ONLY_WITH_FORK)


def _used(file: Path) -> list[str]:
    """Names in a file that Windows lacks."""
    found = USES.findall(file.read_text("utf-8"))
    names = {f"{module}.{name}" for module, name, _ in found if name in ABSENT.get(module, ())}
    return sorted(names | {module for _, _, module in found if module in MODULES})


def test_one_file_uses_what_windows_lacks_and_others_only_where_there_is_fork() -> None:
    files = [file for file in (ROOT / "harness").rglob("*.py") if not _may_use(file)]
    used = {file.relative_to(ROOT).as_posix(): _used(file) for file in files}
    assert {name: names for name, names in used.items() if names} == {
        "harness/base/event_loop.py": ["uvloop"]
    }


@pytest.mark.parametrize("name", ONLY_WITH_FORK)
def test_each_exception_is_needed(name: str) -> None:
    place = ROOT / "harness" / name
    assert any(map(_used, place.rglob("*.py") if place.is_dir() else [place]))
