"""`kafka-conformance archaeology`, from journals to tables, Markdown and exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.commands import archaeology as command
from harness.conformance.catalogue import load_catalogue
from harness.conformance.dated import why_not_promised
from harness.conformance.observed import read_observed
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.verdict import Verdict
from reports.archaeology import build
from reports.archaeology.as_markdown import archaeology_markdown
from reports.archaeology.as_parquet import (
    CHANGES,
    RELEASES,
    SCHEMA_VERSION,
    SCHEMA_VERSION_KEY,
    schema,
)
from reports.arrow import pq
from tests.conformance.made import check, header, write_run

from .made_history import history_of, promise
from .shared_spark import SharedSpark

pytestmark = pytest.mark.rotates(8)

V = Verdict
# A promise since 4.2 and one since 3.7 that is a SHOULD; FETCH-014 was promised until 3.x.
RESULTS = {
    "kafka:3.9.2": {"CONN-001": "P", "OFFS-023": "D", "META-031": "P", "FETCH-014": "P"},
    "kafka:4.0.2": {"CONN-001": "P", "OFFS-023": "PD", "META-031": "PW", "FETCH-014": "N"},
    "kafka:4.4.0": {"CONN-001": "P", "OFFS-023": "NP", "META-031": "P", "FETCH-014": "NN"},
    "kafka:4.4.0,set.log.retention.ms=1": {"CONN-001": "F"},
    "reference": {"CONN-001": "F"},
}


def about(target: str, run: str, minute: int = 0) -> RunHeader:
    release = target.partition(":")[2].partition(",")[0]
    made = header(run, target, f"2026-05-01T10:{minute:02}:00+00:00")
    return replace(made, implementation="Apache Kafka", release=release or "0.1.0")


def checks(target: str, seen: dict[str, str], minute: int = 0) -> list[CheckRecord]:
    """A letter a case: D is what does not hold outside of the promise's dates."""
    release = about(target, "x").release
    at = f"2026-05-01T10:{minute:02}:30+00:00"
    found = []
    for name, letters in seen.items():
        known = load_catalogue().requirement(name)
        for number, letter in enumerate(letters):
            verdict, reason = LETTERS[letter]
            if letter == "D":
                reason = f"{why_not_promised(known, release)}: {reason}"
            made = check(name, verdict, level=known.level, reason=reason, case=f"{name}[{number}]")
            found.append(replace(made, at=at))
    return found


LETTERS = {
    "P": (V.PASSED, ""),
    "F": (V.FAILED, "got 3"),
    "W": (V.WARNING, "got 4"),
    "D": (V.NOT_SUPPORTED, "got 5"),
    "N": (V.NOT_SUPPORTED, "Fetch v0: advertised is 4 to 18"),
}


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["archaeology", *map(str, words)])


@dataclass(frozen=True)
class Dug:
    """The output of the command for `RESULTS`, with an older run of 4.4.0 that no longer counts."""

    results: Path
    out: Path
    ended: Result

    def table(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(self.out / f"{name}.parquet").to_pylist()
        return rows


@pytest.fixture(scope="module")
def dug(tmp_path_factory: pytest.TempPathFactory, shared_spark: SharedSpark) -> Dug:
    results = tmp_path_factory.mktemp("dug")
    for number, (target, seen) in enumerate(RESULTS.items()):
        write_run(results, checks(target, seen, 9), about=about(target, f"r{number}", 9))
    old = about("kafka:4.4.0", "old")
    write_run(results, checks("kafka:4.4.0", {"CONN-001": "F"}), about=old, footer=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "spark_session", shared_spark.session)
        return Dug(results, results / "archaeology", run(results, "--json"))


def test_archaeology_uses_newest_run_of_each_release(dug: Dug) -> None:
    assert dug.ended.exit_code == 1, dug.ended.output
    said = json.loads(dug.ended.output)
    assert said["exit"] == 1
    assert said["incomplete"] == []
    assert said["releases"] == ["3.9.2", "4.0.2", "4.4.0"]
    found = {name: one["observed"] for name, one in said["requirements"].items()}
    assert found == {
        "CONN-001": {"holds": "3.9.2..4.4.0"},
        "META-031": {"holds": "3.9.2 4.4.0", "broken": "4.0.2"},
        # kept at one version only: not kept yet
        "OFFS-023": {"holds": "4.4.0", "absent": "3.9.2..4.0.2"},
        "FETCH-014": {"holds": "3.9.2", "absent": "4.0.2..4.4.0"},
    }
    agreement = {name: one["agreement"] for name, one in said["requirements"].items()}
    assert agreement == {
        "CONN-001": "agrees",
        "META-031": "contradicts",
        "OFFS-023": "agrees",
        "FETCH-014": "agrees",
    }
    (wrong,) = said["requirements"]["META-031"]["contradictions"]
    assert wrong == {
        "what": "does not hold, though promised",
        "releases": "4.0.2",
        "reason": "got 4",
    }


def test_tables_have_published_schema(dug: Dug) -> None:
    for name, columns in (("releases", RELEASES), ("changes", CHANGES)):
        found = pq.read_schema(dug.out / f"{name}.parquet")
        assert found.equals(schema(columns))
        assert found.metadata[SCHEMA_VERSION_KEY].decode() == SCHEMA_VERSION
        assert all(field.metadata[b"description"] for field in found)


@pytest.mark.parametrize("columns", [RELEASES, CHANGES], ids=["releases", "changes"])
def test_results_document_contains_table_columns(columns: tuple[tuple[str, Any, str], ...]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
    published = text.partition("## Many releases: the schema")[2]
    own = columns[5:]
    assert [name for name, _, said in own if f"| `{name}` | {said} |" not in published] == []


def test_tables_contain_every_cell_and_change(dug: Dug) -> None:
    cells = dug.table("releases")
    assert len(cells) == 12
    (cell,) = [c for c in cells if (c["requirement"], c["release"]) == ("OFFS-023", "4.0.2")]
    assert (cell["verdict"], cell["state"], cell["promised"]) == ("not_supported", "absent", False)
    assert cell["reasons"] == ["promised since 4.2; this is 4.0.2: got 5"]
    assert (cell["runs"], cell["targets"], cell["mode"]) == (["r1"], ["kafka:4.0.2"], "kraft")
    changes = [(c["requirement"], c["before"], c["after"], c["was"], c["now"], c["agreement"])
               for c in dug.table("changes")]  # fmt: skip
    assert sorted(changes) == [
        ("FETCH-014", "3.9.2", "4.0.2", "holds", "absent", "agrees"),
        ("META-031", "3.9.2", "4.0.2", "holds", "broken", "contradicts"),
        ("META-031", "4.0.2", "4.4.0", "broken", "holds", "contradicts"),
        ("OFFS-023", "4.0.2", "4.4.0", "absent", "holds", "agrees"),
    ]


def test_markdown_contains_contradictions_and_changes(dug: Dug) -> None:
    text = (dug.out / "archaeology.md").read_text("utf-8")
    assert (
        "| META-031 | SHOULD | since 3.7 | does not hold, though promised | 4.0.2 | got 4 |" in text
    )
    assert "<summary>4.0.2 → 4.4.0: 2</summary>" in text


@pytest.mark.parametrize(
    ("seen", "incomplete", "code"),
    [("NNPPPP", None, 0), ("NPPPPP", None, 1), ("NPPPPP", "kafka:2.5.1", 3)],
)
def test_exit_codes_and_observed_file_follow_agreement_and_completeness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: str, incomplete: str | None, code: int
) -> None:
    file = tmp_path / "observed.tsv"
    found = history_of({"PROD-001": seen}, {"PROD-001": promise()}, incomplete=incomplete)
    monkeypatch.setattr(command, "OBSERVED_FILE", file)
    monkeypatch.setattr(command, "_found", lambda *_: found)
    ended = run(tmp_path, "--write-observed")
    assert ended.exit_code == code, ended.output
    assert ("(since 2.4) holds outside of its dates: 2.3.1" in ended.output) is (code != 0)
    if incomplete:
        assert "run r-2.5.1 of kafka:2.5.1 did not come to its end" in ended.output
        assert "it takes whole runs only" in ended.output
        assert not file.exists()
        return
    held = "2.4.1..4.0.2" if code == 0 else "2.3.1..4.0.2"
    assert read_observed(file).words("PROD-001")["passed"] == held


@pytest.mark.parametrize(
    ("target", "words", "said"),
    [
        ("reference", [], "no run is one of a released Apache Kafka"),
        ("kafka:4.4.0", ["--profile", "none.toml"], "none.toml: cannot be read"),
        (None, [], "holds no results"),
    ],
)
def test_wrong_usage_exits_2_without_traceback(
    tmp_path: Path, target: str | None, words: list[str], said: str
) -> None:
    if target is not None:
        write_run(tmp_path, [check()], about=about(target, "a"))
    ended = run(tmp_path, *words)
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())
    assert "Traceback" not in ended.output
    assert not (tmp_path / "archaeology").exists()


def test_markdown_marks_incomplete_run_and_escapes_reasons() -> None:
    found = history_of({"PROD-001": "NNPFPP"}, {"PROD-001": promise()}, incomplete="kafka:2.5.1")
    text = archaeology_markdown(found)
    assert "**INCOMPLETE.** run r\\-" not in text
    assert "> **INCOMPLETE.** run r-2.5.1 of kafka:2.5.1 did not come to its end" in text
    assert "why F \\<b\\>" in text
    assert "<b>" not in text
