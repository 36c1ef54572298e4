"""A late EndTxn tears the next transaction of the older form, and not one of the newer form."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.histories.history import from_lines
from harness.histories.judgement import HistoryVerdict
from harness.histories.transaction_checker import check_transactions
from harness.histories.transaction_mode import TransactionMode
from labs.late_end.__main__ import main
from tests.targets.kinds import need_kafka

TORN, WHOLE = "torn_transaction", "a read_committed consumer finds: transaction 1, a\n  valid"


def _run(out: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(main, [*words, "--out", str(out)])
    return ended.exit_code, ended.output


def test_late_commit_tears_the_next_transaction_of_the_older_form(tmp_path: Path) -> None:
    code, said = _run(tmp_path, "--target", "reference,like=3.9.2", "--late", "commit")
    assert (code, "the late EndTxn arrives: NONE" in said) == (1, True), said
    assert said.rstrip().endswith(f"invalid: G1a, {TORN}"), said
    (path,) = tmp_path.iterdir()
    history = list(from_lines(path.read_text("utf-8").splitlines()))
    exposed = TransactionMode(transaction_version=0, late_requests=True)
    judged = check_transactions(history, exposed)
    assert judged.verdict is HistoryVerdict.VALID
    assert TORN in {str(one.anomaly) for one in judged.allowed}


def test_late_commit_is_refused_in_the_newer_form(tmp_path: Path) -> None:
    code, said = _run(tmp_path, "--target", "reference", "--late", "commit")
    assert (code, "the late EndTxn arrives: PRODUCER_FENCED" in said, WHOLE in said) == (
        0, True, True,
    ), said  # fmt: skip


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--target", "kafka:2.8.2"), 1),
        (("--target", "kafka:3.9.2"), 1),
        (("--target", "kafka:4.4.0"), 0),
        (("--target", "kafka:4.4.0", "--form", "older"), 1),
        (("--target", "kafka:4.4.0", "--transaction-version", "1"), 1),
    ],
)
def test_late_end_on_real_kafka_is_as_documented(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    need_kafka()
    found, said = _run(tmp_path, *words)
    assert found == code, said
    assert (said.count(TORN), said.count("PRODUCER_FENCED")) == ((2, 0) if code else (0, 2)), said
