"""Faults between client and broker: the file of a run, and the dataset made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.arrow import pq
from harness.conformance.fault_journal import (
    FAULT_LINES,
    FAULTS,
    FAULTS_NAME,
    FAULTS_SCHEMA,
    FaultJournalError,
    FaultRow,
)
from harness.conformance.parquet import arrow_schema, ensure_parquet
from harness.proxies.direction import Direction
from harness.proxies.event import Event
from tests.conformance.cut_file import cut_at_every_byte

ARMED = {"case": "a.py::t", "attempt": 1, "at_ms": 0.5, "what": "armed", "rule": "drop it"}
FIRED = {
    **ARMED,
    "what": "fired",
    "at_ms": 12,
    "link": "client->broker",
    "connection": 2,
    "direction": "upstream",
    "frame": 0,
    "detail": {"version": 3, "action": "drop"},
}
SECOND = {**ARMED, "attempt": 2}
ROWS = (
    FaultRow("a.py::t", 1, 0, 0.5, "armed", None, None, None, None, "drop it", "{}"),
    FaultRow(
        *("a.py::t", 1, 1, 12.0, "fired", "client->broker", 2, "upstream", 0, "drop it"),
        detail='{"action": "drop", "version": 3}',
    ),
    FaultRow("a.py::t", 2, 0, 0.5, "armed", None, None, None, None, "drop it", "{}"),
)


def written(folder: Path, run: str = "r1") -> Path:
    path = folder / "runs" / run / FAULTS_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = FAULT_LINES.writer(path, run, "reference")
    writer.add([ARMED, FIRED])
    writer.add([])
    writer.add([SECOND])
    writer.close()
    writer.close()
    return path


def test_events_are_numbered_within_attempt(tmp_path: Path) -> None:
    found = FAULT_LINES.read(written(tmp_path))
    assert (found.run, found.target) == ("r1", "reference")
    assert found.rows == ROWS


def test_proxy_event_is_written_and_read_back(tmp_path: Path) -> None:
    told = Event(1.25, "fired", "client->1", 0, Direction.DOWNSTREAM, 4, "r", {"bytes": 2})
    path = tmp_path / FAULTS_NAME
    writer = FAULT_LINES.writer(path, "r1", "reference")
    writer.add([{"case": "c", "attempt": 1, **told.to_json()}])
    writer.close()
    (row,) = FAULT_LINES.read(path).rows
    assert row == FaultRow("c", 1, 0, 1.25, "fired", "client->1", 0, "downstream", 4, "r",
                           '{"bytes": 2}')  # fmt: skip


def test_writer_refuses_existing_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(FileExistsError):
        FAULT_LINES.writer(path, "r1", "reference")


def test_file_cut_at_any_byte_keeps_all_complete_rows(tmp_path: Path) -> None:
    path = written(tmp_path)
    for whole in cut_at_every_byte(path):
        if not whole:
            with pytest.raises(FaultJournalError, match="died before it began"):
                FAULT_LINES.read(path)
        else:
            assert FAULT_LINES.read(path).rows == ROWS[: whole - 1]


def line(**values: Any) -> str:
    return json.dumps({"type": "fault", **FIRED, **values})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: is no JSON object"),
        (line(type="check"), "line 2: is no line of type fault"),
        (line(colour="red"), 'line 2: no field is called "colour"'),
        (line(case=None), "line 2: case must be a text, not None"),
        (line(attempt=True), "line 2: attempt must be a whole number, not True"),
        (line(at_ms="1"), "line 2: at_ms must be a number, not '1'"),
        (line(frame=2**31), "line 2: frame must be a whole number, not 2147483648"),
        (line(direction="up"), "line 2: direction must be one of upstream, downstream, not 'up'"),
        (line(detail=[]), r"line 2: detail must be an object, not \[\]"),
    ],
)
def test_damaged_line_raises_fault_journal_error_with_line_number(
    tmp_path: Path, text: str, said: str
) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], text, *lines[2:], ""]))
    with pytest.raises(FaultJournalError, match=said) as caught:
        FAULT_LINES.read(path)
    assert str(path) in str(caught.value)
    assert ensure_parquet(FAULTS, tmp_path).unreadable == ((path, str(caught.value)),)


@pytest.mark.parametrize(
    "header",
    ['{"type":"header","faults_version":2}', '{"type":"header","faults_version":1}', line()],
)
def test_wrong_header_raises_fault_journal_error(tmp_path: Path, header: str) -> None:
    path = tmp_path / FAULTS_NAME
    path.write_text(header + "\n")
    with pytest.raises(FaultJournalError, match="line 1: "):
        FAULT_LINES.read(path)


def test_dataset_has_published_schema_and_all_rows(tmp_path: Path) -> None:
    written(tmp_path)
    (part,) = ensure_parquet(FAULTS, tmp_path).written
    assert part == tmp_path / "faults" / "run=r1" / "part-0.parquet"
    table: Any = pq.ParquetFile(part).read()
    assert table.schema.equals(arrow_schema(FAULTS_SCHEMA), check_metadata=True)
    version = table.schema.metadata[FAULTS_SCHEMA.version_key]
    assert version == FAULTS_SCHEMA.version.encode() == b"1"
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [("r1", "reference", *row) for row in ROWS]
    assert ensure_parquet(FAULTS, tmp_path).kept == (part,)
