"""A short sample of the loops, and that a loop can fail: docs/durability.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.histories.durability import judge
from harness.histories.history import ClientAction
from harness.power_loss.power_loss_disk import is_possible
from labs.crash_loops.__main__ import main, run
from labs.crash_loops.cases import CASES, LEADER, CrashCase, CrashFault, named, usual
from labs.crash_loops.notes import STRANGE, payload, value_of
from labs.crash_loops.stage import nodes_of
from labs.crash_loops.table import COLUMNS, Loop, markdown
from tests.targets.kinds import need_kafka, not_run

KAFKA = "kafka:4.4.0"
LITTLE = 30  # what the load awaits before and behind a crash


def told(loop: Loop) -> str:
    """Return the text to show when a test fails."""
    return markdown("a sample", [loop])


def played(spec: str, case: CrashCase, rounds: int = 1) -> Loop:
    if spec == KAFKA:
        need_kafka()
    if case.fault is CrashFault.POWER and not is_possible():
        not_run("no disk can lose power here")
    return run(spec, case, rounds, seed=7)


def is_worth_it(loop: Loop) -> bool:
    """True if each round could lose records, and a consumer read during it."""
    survivals = [each.verdict.survival for each in loop.rounds if each.verdict is not None]
    polls = [one for each in loop.rounds for one in each.history if one.action is ClientAction.POLL]
    return bool(polls) and all(survival.acknowledged > LITTLE for survival in survivals)


@pytest.mark.slow
@pytest.mark.rotates(20)
def test_killed_cluster_loses_no_replicated_record() -> None:
    loop = played("reference,nodes=3", named("kill-all"), rounds=2)
    assert loop.good, told(loop)
    assert is_worth_it(loop), told(loop)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("name", ["kill", "power-flush-1"])
def test_real_kafka_loses_no_flushed_or_page_cached_record(name: str) -> None:
    loop = played(KAFKA, named(name))
    assert loop.good, told(loop)
    assert is_worth_it(loop), told(loop)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
def test_power_loss_of_unflushed_records_is_broken_unless_allowed() -> None:
    case = named("power")
    strict = played(KAFKA, replace(case, may_lose={}))
    assert not strict.good
    assert "acknowledged records are lost" in told(strict)
    for each in strict.rounds:
        verdict = judge(each.history, case.may_lose)
        assert verdict.survival.lost, told(strict)
        assert (verdict.broken, verdict.allowed) == ((), len(verdict.survival.lost))


def test_markdown_table_has_one_row_per_case() -> None:
    text = markdown("x", [Loop(case, [], 0.0) for case in CASES])
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(CASES) + 1
    assert {row.count("|") for row in rows} == {len(COLUMNS) + 1}
    assert not Loop(CASES[0], [], 0.0).good


def test_value_of_recognizes_only_intact_payloads() -> None:
    assert value_of(payload("acks=1-7")) == "acks=1-7"
    for strange in (None, b"", b"acks=1-7", payload("a") + b".", payload("a")[:-1] + b"\0"):
        assert value_of(strange).startswith(STRANGE)


def test_command_selects_usual_cases_and_rejects_wrong_ones() -> None:
    assert [nodes_of(spec) for spec in (KAFKA, "reference,nodes=3", "x,nodes=1")] == [1, 3, 1]
    assert [case.name for case in usual(3)] == ["kill-one", "kill-all"]
    assert all(set(case.may_lose) <= {LEADER} for case in usual(3))
    for words in (
        ["--target", "reference", "--case", "kill-all"],
        ["--target", KAFKA, "--case", "x"],
    ):
        assert CliRunner().invoke(main, words).exit_code == 2


def test_target_without_restart_node_exits_2(tmp_path: Path) -> None:
    words = ["--target", "reference", "--rounds", "1", "--out", str(tmp_path)]
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 2
    assert "restart_node" in said.output
