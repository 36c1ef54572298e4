"""Messages that a run exchanged: its file, and the dataset made from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.arrow import pq
from harness.conformance.found_runs import find_runs
from harness.conformance.parquet import arrow_schema, ensure_parquet
from harness.conformance.wire import (
    WIRE,
    WIRE_NAME,
    WIRE_SCHEMA,
    WireError,
    WireRow,
    WireWriter,
    read_wire,
)
from tests.conformance.cut_file import cut_at_every_byte
from tests.conformance.made import check, write_run

SENT = ("request", 3, "Metadata", 12, "message", "", None, None)
ERROR = ("response", 3, "Metadata", 12, "error", "topics.error_code", 3, "UNKNOWN_TOPIC")
ODD = ("response", 3, "Metadata", 12, "error", "topics.error_code", -9, None)


def written(folder: Path, run: str = "r1") -> Path:
    path = folder / "runs" / run / WIRE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = WireWriter(path, run, "reference")
    writer.add([(*SENT, 2), (*ERROR, 1)])
    writer.add([])
    writer.add([(*SENT, 3), (*ODD, 4)])
    writer.close()
    writer.close()
    return path


def test_read_wire_sums_counts_of_equal_rows(tmp_path: Path) -> None:
    found = read_wire(written(tmp_path))
    assert (found.run, found.target) == ("r1", "reference")
    assert found.counts == {WireRow(*SENT): 5, WireRow(*ERROR): 1, WireRow(*ODD): 4}


def test_writer_refuses_existing_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(FileExistsError):
        WireWriter(path, "r1", "reference")


def test_file_cut_at_any_byte_keeps_counts_of_complete_lines(tmp_path: Path) -> None:
    path = written(tmp_path)
    for whole in cut_at_every_byte(path):
        if not whole:
            with pytest.raises(WireError, match="died before it began"):
                read_wire(path)
        else:
            assert read_wire(path).counts.get(WireRow(*SENT), 0) == (0, 2, 5)[whole - 1]


def counts(row: str) -> str:
    return '{"type":"counts","rows":[' + row + "]}"


ROW = '["request",3,"Metadata",12,"message","",null,null,1]'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: is no JSON object"),
        ('{"type":"header"}', "line 2: is no line of counts"),
        ('{"type":"counts","rows":[[1]]}', "line 2: a row has 9 values"),
        (counts(ROW.replace("request", "req")), "that cannot be"),
        (counts(ROW.replace("message", "m")), "that cannot be"),
        (counts(ROW.replace("3", '"3"')), "that cannot be"),
        (counts(ROW.replace("null,1", '"E",1.5')), "that cannot be"),
        (counts(ROW.replace('""', "null")), "that cannot be"),
    ],
)
def test_damaged_line_raises_wire_error_with_line_number(
    tmp_path: Path, line: str, said: str
) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[2:], ""]))
    with pytest.raises(WireError, match=said) as caught:
        read_wire(path)
    assert str(path) in str(caught.value)
    ((file, why),) = ensure_parquet(WIRE, tmp_path).unreadable
    assert (file, why) == (path, str(caught.value))


@pytest.mark.parametrize(
    "header",
    ['{"type":"header","wire_version":2}', '{"type":"header","wire_version":1,"run":1}', "{}"],
)
def test_wrong_header_raises_wire_error(tmp_path: Path, header: str) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_text(header + "\n")
    with pytest.raises(WireError, match="line 1: "):
        read_wire(path)


def test_dataset_has_published_schema_and_summed_rows(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, "r2")
    made = ensure_parquet(WIRE, tmp_path)
    assert made.written == (WIRE.part_path(tmp_path, "r1"), WIRE.part_path(tmp_path, "r2"))
    assert made.written[0] == tmp_path / "wire" / "run=r1" / "part-0.parquet"
    table: Any = pq.ParquetFile(made.written[0]).read()
    assert table.schema.equals(arrow_schema(WIRE_SCHEMA), check_metadata=True)
    assert table.schema.metadata[WIRE_SCHEMA.version_key] == WIRE_SCHEMA.version.encode() == b"1"
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [
        ("r1", "reference", *SENT, 5),
        ("r1", "reference", *ODD, 4),
        ("r1", "reference", *ERROR, 1),
    ]


def test_dataset_is_rewritten_only_when_source_is_newer_or_part_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path)
    (part,) = ensure_parquet(WIRE, tmp_path).written
    assert ensure_parquet(WIRE, tmp_path).kept == (part,)
    newer = part.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(newer, newer))
    assert ensure_parquet(WIRE, tmp_path).written == (part,)
    part.write_bytes(b"cut")
    assert ensure_parquet(WIRE, tmp_path).written == (part,)


def test_find_runs_ignores_wire_dataset(tmp_path: Path) -> None:
    journal = write_run(tmp_path, [check("CONN-001")])
    written(tmp_path, journal.parent.name)
    ensure_parquet(WIRE, tmp_path)
    found = find_runs(tmp_path)
    assert [run.header.run for run in found.runs] == [journal.parent.name]
    assert found.unreadable == ()
