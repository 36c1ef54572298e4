"""The documents name things in the code correctly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from checks.deep_parts import DEEP
from checks.gate_parts import GATE
from harness.cli import main
from harness.conformance.dataset import RunDataset
from harness.conformance.fault_journal import FAULTS
from harness.conformance.history_journal import HISTORIES
from harness.conformance.results import RESULTS
from harness.conformance.wire import WIRE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("heading", "dataset"),
    [
        ("The Parquet schema", RESULTS),
        ("Seen on the wire: the schema", WIRE),
        ("Faults on the way: the schema", FAULTS),
        ("What clients did: the schema", HISTORIES),
    ],
    ids=["results", "wire", "faults", "histories"],
)
def test_results_md_contains_schema(heading: str, dataset: RunDataset) -> None:
    text = (ROOT / "docs/results.md").read_text("utf-8")
    heading = f"## {heading}, version {dataset.schema.version}"
    assert heading in text
    section = text.split(heading)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE)
    wanted = [(name, means) for name, _, _, means in dataset.schema.columns]
    assert rows == wanted


def test_contributing_lists_every_gate_part() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w+) \| .* \| [\d.]+ \|$", text, re.MULTILINE)
    assert rows == [part.name for part in GATE]


def test_contributing_lists_every_deep_part_with_its_slices() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\w, ]+) \| (\d+)(?: each)? \| ", text, re.MULTILINE)
    named = [(name, int(count)) for names, count in rows for name in names.split(", ")]
    assert named == [(part.name, part.slices) for part in DEEP]


def test_every_readme_command_exists() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    named = set(
        re.findall(
            r"kafka-conformance "
            r"(run|broker|proxy|report|gate|compare|sweep|versions|archaeology|cleanup|requirements|targets|codec|log)\b",
            text,
        )
    )
    listed = CliRunner().invoke(main, ["--help"]).output
    assert named
    assert all(re.search(rf"^  {name}\b", listed, re.MULTILINE) for name in named)


def test_every_path_in_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    roots = "bench|checks|docker|docs|harness|labs|reports|suites|tests"
    paths = re.findall(rf"[`(]((?:{roots})/[\w./@*-]*)[`)]", text)
    assert paths
    assert [path for path in paths if not any(ROOT.glob(path.rstrip("/")))] == []


def test_every_room_in_architecture_has_its_start_files() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[\w/]+/`.*) \| .+ \| .+ \| (.+) \|$", text, re.MULTILINE)
    rooms = {tuple(re.findall(r"`([\w/]+)`", room)): places for room, places in rows}
    assert len(rooms) > 15
    missing = [
        f"{room}: {place}"
        for room, places in rooms.items()
        for place in re.findall(r"`([\w./]+)`", places)
        if not any((ROOT / one / place).exists() for one in room)
    ]
    assert missing == []
