"""The command ``timeline``, with a real broker and with one that cannot be joined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.commands import timeline
from harness.virtual_broker.timeline import EXPECTED, TimelineRow, expected_of
from tests.targets import kinds

RELEASE = "4.4.0"


def run(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(main, ["timeline", *words])
    return ended.exit_code, ended.output


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_timeline_of_kafka_matches_expected_table(tmp_path: Path) -> None:
    kinds.need_kafka(RELEASE)
    page = tmp_path / "page.md"
    status, said = run("--repeat", "2", "--markdown", str(page), f"kafka:{RELEASE}", "reference")
    assert status == timeline.EXIT_NOT_SEEN, said
    assert f"kafka:{RELEASE}: as expected" in said
    assert re.search(r"reference: MissingCapability: .*'join_as_broker'", said)
    assert "1 of 2 targets show this table." in said
    table = [line for line in said.splitlines() if line.startswith("| T")]
    assert len(table) == len(EXPECTED)
    assert table[5] == "| T6 R3 fetch 3 | 3 | 3/3 | 3 | 0/0 | none |"
    assert [line for line in page.read_text("utf-8").splitlines() if line in table] == table
    assert f"- `kafka:{RELEASE}`" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("release", "rows", "status", "says"),
    [
        (RELEASE, EXPECTED, 0, "as expected"),
        ("0.8.0", expected_of("0.8.0"), 0, "as its release does: T6: 3 | 3/3 | 3 | 0/3 | none"),
        (RELEASE, expected_of("0.8.0"), 1, "and its release does not: T6"),
        ("0.8.0", EXPECTED, 1, "NOT as expected"),
    ],
)
def test_timeline_verdict_and_exit_code_follow_observed_rows(
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    rows: tuple[TimelineRow, ...],
    status: int,
    says: str,
) -> None:
    monkeypatch.setattr(timeline, "_play", lambda _: rows)
    monkeypatch.setattr(timeline, "joinable_broker", Lender)
    ended, said = run(f"kafka:{release}")
    assert ended == status, said
    assert says in said


def test_timeline_with_differing_repetitions_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    played = iter([EXPECTED, expected_of("0.8.0")])
    monkeypatch.setattr(timeline, "_play", lambda _: next(played))
    monkeypatch.setattr(timeline, "joinable_broker", Lender)
    status, said = run("--repeat", "2", f"kafka:{RELEASE}")
    assert (status, "not the same in every repetition" in said) == (timeline.EXIT_NOT_SEEN, True)


class Lender:
    """Lends nothing that runs."""

    def acquire(self, like: object) -> object:
        return like

    def stop(self) -> None:
        """Nothing was started."""
