"""Captures of clients of many releases before a real Kafka: read without a byte passed over."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from labs.captures.recorded import follow, messages, segments, told
from labs.client_captures.lines import CLIENTS
from labs.client_captures.table import COLUMNS, is_read, row_of
from tests.capture.made import without_syn

FOLDER = Path(__file__).parents[2] / "labs" / "client_captures"
KEPT = sorted((FOLDER / "files").glob("*.pcap.gz"))
LARGEST_BYTES = 100_000


def rows() -> list[dict[str, str]]:
    with (FOLDER / "captured.tsv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


def name_of(file: Path) -> str:
    return file.name.removesuffix(".pcap.gz")


def test_table_of_clients_has_no_byte_that_was_passed_over() -> None:
    found = rows()
    assert found
    assert all(tuple(row) == COLUMNS for row in found)
    unread = [row for row in found if not is_read({k: int(row[k]) for k in COLUMNS[3:]})]
    assert unread == []
    assert {f"{row['client']}-{row['release']}" for row in found} <= set(CLIENTS)


@pytest.mark.parametrize("file", KEPT, ids=name_of)
def test_kept_capture_gives_the_row_of_its_client(file: Path) -> None:
    row = row_of(CLIENTS[name_of(file)], file)
    assert {column: str(value) for column, value in row.items()} in rows()


@pytest.mark.parametrize("file", KEPT, ids=name_of)
def test_kept_capture_reads_alike_without_syn_and_with_every_packet_twice(file: Path) -> None:
    whole = sorted(map(str, map(told, messages(follow(segments(file))[0]))))
    twice = [segment for segment in segments(file) for _ in range(2)]
    for changed in (without_syn(segments(file)), twice):
        assert sorted(map(str, map(told, messages(follow(changed)[0])))) == whole


def test_kept_captures_are_small() -> None:
    assert 0 < sum(file.stat().st_size for file in KEPT) < LARGEST_BYTES
