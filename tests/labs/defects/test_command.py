"""``kafka-conformance lab defects``: its table, its exit codes, and the rest after an early end."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from labs.awaiting import await_right
from labs.defects.__main__ import TableProgress
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.row_queue import JudgedRow
from labs.defects.row_unit import RowFound
from labs.defects.table_run import TableRequest
from tests.architecture.test_tidy import ROOT

pytestmark = pytest.mark.rotates(8)  # each of them is a table of its own

COMMAND = [sys.executable, "-m", "labs.defects"]
MARK = "KAFKA_CONFORMANCE_TEST_OF_THE_TABLE"
LIMIT_S = 300


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_command_kills_rows_of_every_kind(tmp_path: Path) -> None:
    requirements = ("APIV-001", "META-020", "LEG-009", "STOR-008")
    words = [word for name in requirements for word in ("--requirement", name)]
    done = run(*words, "--alone", "0", "--jobs", "2", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    table = json.loads((tmp_path / "reference.json").read_text())
    rows = {row["requirement"]: row for row in table["defects"]}
    assert set(rows) == set(requirements)
    for name, row in rows.items():
        assert row["killed"], row
        assert row["first_problem"] == ""
        assert row["changed"] == [{"requirement": name, "was": "passed", "now": "failed"}]
    assert not table["complete"]
    assert "defects killed by their own check" in (tmp_path / "reference.md").read_text()


@pytest.mark.parametrize(
    "words", [("--slice", "3/2"), ("--requirement", "NONE-1"), ("--jobs", "x")]
)
def test_invalid_arguments_exit_2(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, "--out", str(tmp_path))
    assert done.returncode == 2
    assert words[0] in done.stderr or "NONE-1" in done.stderr


@pytest.mark.parametrize(("alone", "named"), [(None, False), ({"another"}, True)])
def test_failed_row_prints_command_that_repeats_it(alone: set[str] | None, named: bool) -> None:
    defect = ALL_DEFECTS[0]
    asked = TableRequest("reference", [defect], False, 2, "ends", "area", alone)
    printed = io.StringIO()
    progress = TableProgress(Console(file=printed, width=40), asked)
    progress(defect, JudgedRow(RowFound(defect.name, "", "not noticed", {})))
    (line,) = printed.getvalue().splitlines()
    assert (
        f"kafka-conformance lab defects --target reference --requirement {defect.requirement}"
        in line
    )
    assert ("--alone 0" in line) == named


# -- how it ends ----------------------------------------------------------------------------------


@pytest.fixture(name="mark")
def _mark() -> Iterator[str]:
    """In the environment of all processes of one table; none of them outlives the test."""
    mark = uuid.uuid4().hex
    yield mark
    for process in marked(mark):
        process.kill()


def marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


def ports_of(processes: list[psutil.Process]) -> set[int]:
    found = set()
    for process in processes:
        try:
            every = process.net_connections(kind="tcp")
        except psutil.Error:
            continue
        found |= {one.laddr.port for one in every if one.status == psutil.CONN_LISTEN}
    return found


def is_open(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_ended_command_leaves_no_process_folder_or_port(
    number: signal.Signals, code: int, mark: str, tmp_path: Path
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, MARK: mark, "TMPDIR": str(folder)}
    words = ["--requirement", "META-*", "--alone", "0", "--jobs", "2", "--out", str(tmp_path)]
    with subprocess.Popen(
        [*COMMAND, *words], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as table:
        assert table.stderr is not None
        assert "killed" in table.stderr.readline(), "a row is judged, more are to come"
        ports = await_right(
            lambda: ports_of(marked(mark)),
            lambda found: len(found) >= 2,
            "the broker's port, and that of a proxy",
        )
        table.send_signal(number)
        assert table.wait(LIMIT_S) == code
    await_right(
        lambda: [*map(str, marked(mark)), *(str(path) for path in folder.iterdir())],
        lambda left: left == [],
        "no process and no folder is left",
    )
    assert not [port for port in ports if is_open(port)]
