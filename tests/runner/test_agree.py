"""The command ``agree``, on runs that are there."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from harness.cli import main
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, write_run

V = Verdict


def write(folder: Path, target: str, verdict: Verdict) -> None:
    run = target.replace(":", "-").replace(",", "-").replace("=", "-")
    write_run(folder, [check("CONN-001", verdict)], about=header(run, target=target))


def agree(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["agree", *words], catch_exceptions=False)
    return done.exit_code, done.output


def test_agree_with_equal_verdicts_exits_0(tmp_path: Path) -> None:
    write(tmp_path, "reference,like=1.1.1", V.PASSED)
    write(tmp_path, "kafka:1.1.1", V.PASSED)
    code, told = agree(str(tmp_path), "--no-run", "--release", "1.1.1")
    assert code == 0, told
    assert "1.1.1: 1 the same, 0 differ and are named, 0 differ" in told


def test_agree_with_unlisted_difference_exits_1(tmp_path: Path) -> None:
    write(tmp_path, "reference,like=1.1.1", V.PASSED)
    write(tmp_path, "kafka:1.1.1", V.FAILED)
    code, told = agree(str(tmp_path), "--no-run", "--release", "1.1.1")
    assert code == 1
    assert "not named" in told


def test_agree_with_nodes_compares_cluster_targets(tmp_path: Path) -> None:
    write(tmp_path, "reference,nodes=3,like=1.1.1", V.PASSED)
    write(tmp_path, "reference,like=1.1.1", V.FAILED)
    write(tmp_path, "kafka:1.1.1,nodes=3", V.PASSED)
    code, told = agree(str(tmp_path), "--no-run", "--release", "1.1.1", "--nodes", "3")
    assert code == 0, told
    assert "1.1.1: 1 the same, 0 differ and are named, 0 differ" in told


def test_agree_with_missing_run_exits_3(tmp_path: Path) -> None:
    write(tmp_path, "reference,like=1.1.1", V.PASSED)
    code, told = agree(str(tmp_path), "--no-run", "--release", "1.1.1")
    assert code == 3
    assert "holds no run of kafka:1.1.1" in told
