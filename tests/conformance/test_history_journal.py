"""Operations of clients: the file of a run, and the dataset made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.arrow import pq
from harness.conformance.history_journal import (
    HISTORIES,
    HISTORY_LINES,
    HISTORY_NAME,
    HISTORY_SCHEMA,
    OUTCOMES,
    HistoryJournalError,
    HistoryRow,
)
from harness.conformance.parquet import arrow_schema, ensure_parquet
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from tests.conformance.cut_file import cut_at_every_byte

KILLED = ClientOperation(
    "cluster", OperationOutcome.INFO, ClientAction.FAULT, detail="kill 2", at_ms=1.5
)
SENT = ClientOperation("producer", OperationOutcome.OK, ClientAction.SEND, 0, 2**40, "1", at_ms=2)
ABOUT = {"case": "a.py::t", "attempt": 1}
ROWS = (
    HistoryRow(*("a.py::t", 1, 0, 1.5, "cluster", "info", "fault"), None, None, None, "kill 2"),
    HistoryRow("a.py::t", 1, 1, 2.0, "producer", "ok", "send", 0, 2**40, "1", None),
)


def line_of(operation: ClientOperation) -> dict[str, Any]:
    return {**ABOUT, **json.loads(operation.to_json())}


def written(folder: Path) -> Path:
    path = folder / "runs" / "r1" / HISTORY_NAME
    path.parent.mkdir(parents=True)
    writer = HISTORY_LINES.writer(path, "r1", "reference")
    writer.add([line_of(KILLED)])
    writer.add([line_of(SENT)])
    writer.close()
    writer.close()
    return path


def test_operations_are_numbered_within_attempt(tmp_path: Path) -> None:
    found = HISTORY_LINES.read(written(tmp_path))
    assert (found.run, found.target, found.rows) == ("r1", "reference", ROWS)


def test_journal_outcomes_equal_operation_outcomes() -> None:
    assert tuple(OperationOutcome) == OUTCOMES


def test_file_cut_at_any_byte_keeps_all_complete_rows(tmp_path: Path) -> None:
    path = written(tmp_path)
    for whole in cut_at_every_byte(path):
        if not whole:
            with pytest.raises(HistoryJournalError, match="died before it began"):
                HISTORY_LINES.read(path)
        else:
            assert HISTORY_LINES.read(path).rows == ROWS[: whole - 1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "fault"}, "line 2: is no line of type operation"),
        ({"colour": "red"}, 'line 2: no field is called "colour"'),
        ({"process": None}, "line 2: process must be a text, not None"),
        ({"outcome": "done"}, "line 2: outcome must be one of invoke, ok, fail, info, not 'done'"),
        ({"partition": 2**31}, "line 2: partition must be a whole number, not 2147483648"),
        ({"offset": -1}, "line 2: offset must be a whole number, not -1"),
    ],
)
def test_damaged_line_raises_history_journal_error_with_line_number(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines()
    damaged = json.dumps({**json.loads(lines[1]), **change})
    path.write_text("\n".join([lines[0], damaged, *lines[2:], ""]))
    with pytest.raises(HistoryJournalError, match=said) as caught:
        HISTORY_LINES.read(path)
    assert ensure_parquet(HISTORIES, tmp_path).unreadable == ((path, str(caught.value)),)


def test_dataset_has_published_schema_and_all_rows(tmp_path: Path) -> None:
    written(tmp_path)
    (part,) = ensure_parquet(HISTORIES, tmp_path).written
    assert part == tmp_path / "histories" / "run=r1" / "part-0.parquet"
    table: Any = pq.ParquetFile(part).read()
    assert table.schema.equals(arrow_schema(HISTORY_SCHEMA), check_metadata=True)
    version = table.schema.metadata[HISTORY_SCHEMA.version_key]
    assert version == HISTORY_SCHEMA.version.encode() == b"1"
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [("r1", "reference", *row) for row in ROWS]
    assert ensure_parquet(HISTORIES, tmp_path).kept == (part,)
