"""Output and exit codes of ``kafka-conformance log``."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from tests.log_tools.made_broker import MadeBroker
from tests.log_tools.planted import Plant
from tests.reference_broker.storage.made_folder import (
    BASES,
    BATCHES,
    COUNT,
    END,
    PARTITION,
    make_folder,
    name_of,
    time_of,
)


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    return Plant(make_folder(tmp_path / "data", clean=True))


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, ["log", *map(str, words)])


def values(*words: object) -> list[dict[str, Any]]:
    ended = invoke("dump", "--json", *words)
    assert ended.exit_code == 0, ended.output
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_dump_json_contains_every_kind_of_value(plant: Plant) -> None:
    found = values(plant.folder)
    batches = [one for one in found if one["kind"] == "batch"]
    assert [one["base_offset"] for one in batches] == list(range(0, END, COUNT))
    assert {one["codec"] for one in batches} == {"none", "gzip", "snappy", "lz4", "zstd"}
    first = batches[0]
    assert first["file"] == str(plant.file(name_of(0)))
    assert (first["position"], first["last_offset"], first["count"]) == (0, 9, COUNT)
    assert (first["magic"], first["crc_ok"], first["max_timestamp"]) == (2, True, time_of(9))
    assert batches[-1]["leader_epoch"] == 3
    kinds = {one["kind"] for one in found}
    assert kinds == {
        "batch", "offset_index", "time_index", "aborted_transaction", "producer", "leader_epoch",
        "checkpoint", "partition_metadata", "meta_properties", "clean_shutdown",
    }  # fmt: skip
    entries = [one for one in found if one["kind"] == "offset_index"]
    assert len(entries) == len(BASES) * (BATCHES - 1)


def test_dump_with_records_contains_keys_headers_and_timestamps(plant: Plant) -> None:
    found = values("--records", plant.folder / PARTITION / name_of(100))
    records = [one for one in found if one["kind"] == "record"]
    assert [one["offset"] for one in records] == list(range(100, END))
    assert bytes.fromhex(records[3]["key"]) == b"k3"
    assert records[3]["headers"] == [["h", None]]
    assert records[3]["timestamp"] == time_of(103)


def test_dump_text_lists_files_batches_and_records(plant: Plant) -> None:
    plant.write("unknown.txt", b"?")
    ended = invoke("dump", "--records", plant.folder)
    assert ended.exit_code == 0
    lines = ended.output.splitlines()
    assert str(plant.file(name_of(50))) in lines
    assert any(line.startswith("  batch position: 0 ") and "codec: none" in line for line in lines)
    assert any("  record " in line and "... (300 bytes)" in line for line in lines)
    assert "  left_alone folder: no" in lines


def test_dump_marks_damaged_batch_and_unreadable_file(plant: Plant) -> None:
    plant.flip(name_of(50), 61)
    plant.write("leader-epoch-checkpoint", b"7\n")
    found = values(plant.folder / PARTITION)
    (damage,) = (one for one in found if one["kind"] == "damage")
    assert (damage["position"], damage["base_offset"]) == (0, 50)
    assert (damage["damage"], damage["crc_ok"]) == ("checksum", False)
    (unreadable,) = (one for one in found if one["kind"] == "unreadable")
    assert unreadable["path"] == "line 1"


def test_verify_prints_problem_and_exits_1(plant: Plant) -> None:
    assert invoke("verify", plant.folder).exit_code == 0
    (plant.folder / f"made-0.{'0' * 32}-delete").mkdir()
    _, start = plant.header(100, 4)
    plant.cut(name_of(100), start + 20)
    ended = invoke("verify", plant.folder)
    assert ended.exit_code == 1
    problem, left_alone, told = ended.output.splitlines()
    where = f"{plant.file(name_of(100))}, byte {start}, offset 140: a batch of "
    assert problem.startswith(where)
    assert problem.endswith(
        "20 are there [log-torn; not looked at behind a clean shutdown: readers get it as it is]"
    )
    assert left_alone.endswith("-delete: left alone")
    assert told == f"{plant.folder}: 1 problem (partitions: 1, segments: 3)"
    ended = invoke("verify", "--json", plant.folder, plant.folder / PARTITION)
    assert ended.exit_code == 1
    found = [json.loads(line) for line in ended.output.splitlines()]
    assert [(one["kind"], one["position"], one["offset"]) for one in found] == [
        ("log-torn", start, 140)
    ] * 2


def test_verify_takes_directories_together_for_those_of_one_broker(tmp_path: Path) -> None:
    made = MadeBroker(tmp_path)
    assert invoke("verify", *made.folders).exit_code == 0
    made.change(made.two, cluster_id="d")
    for alone in made.folders:
        assert invoke("verify", alone).exit_code == 0
    ended = invoke("verify", *made.folders)
    assert ended.exit_code == 1
    first, problem, second = ended.output.splitlines()
    assert first.startswith(f"{made.one}: all is sound")
    told = f"{made.two}/meta.properties: cluster.id is d, in {made.one} it is c [meta-cluster; "
    assert problem.startswith(told)
    assert second.startswith(f"{made.two}: 1 problem")


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_wrong_usage_exits_2(command: str, tmp_path: Path) -> None:
    for words in ([], [tmp_path], [tmp_path / "none"]):
        assert invoke(command, *words).exit_code == 2


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_dump_and_verify_change_no_file(command: str, plant: Plant) -> None:
    def state() -> dict[Path, tuple[int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes())
            for path in plant.folder.rglob("*")
            if path.is_file()
        }

    plant.flip(name_of(100), 61)
    before = state()
    invoke(command, plant.folder)
    assert state() == before
