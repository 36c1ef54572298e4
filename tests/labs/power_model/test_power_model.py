"""A power loss takes nothing that was promised, and a flush that is missing is seen."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from labs.power_model.lossy_files import FileLink, FlushFile, FlushNames, ModelDisk, Rename, Write
from labs.power_model.recorded_calls import Forgets, Recording
from labs.power_model.recovered import expect_recovered, write_out
from labs.power_model.rounds import STEPS, RoundCounts, play
from labs.power_model.workload import DiskWorkload

pytestmark = pytest.mark.rotates(8)

ROUNDS, ROUNDS_AT_DEPTH = 2, 6
SEEN_WITHIN, DRAWN = 12, 10
ROOT, FILE = 0, 1
A, B = Path("a"), Path("b")


@pytest.mark.parametrize("journal", [True, False], ids=["journal", "folders"])
def test_recovery_after_power_loss_keeps_promised_data(
    journal: bool, pytestconfig: pytest.Config
) -> None:
    counts = RoundCounts()
    rounds = ROUNDS_AT_DEPTH if pytestconfig.getoption("deep") else ROUNDS
    broken = [told for seed in range(rounds) for told in play(seed, counts, journal=journal)]
    assert broken == []
    assert counts.disks == rounds * 48
    assert counts.acknowledged > 17 * rounds


def test_clean_shutdown_keeps_producer_state(tmp_path: Path) -> None:
    """A start after a clean end reads no log. Each folder's names reach the disk independently."""
    root, after = tmp_path / "disk", tmp_path / "after"
    root.mkdir()
    recording = Recording(root, lambda _: False)
    workload = DiskWorkload(recording, Random(0))
    workload.run(STEPS, ends_in_order=True)
    disk = ModelDisk(journal=False)
    for call in recording.calls:
        disk.take(call)
    for seed in range(DRAWN):
        write_out(disk.left(Random(seed)), after)
        expect_recovered(after, workload.histories, len(recording.calls))


LOST = "flushed is all below"
MISTAKES: dict[str, tuple[Forgets, str]] = {
    "a segment": (lambda path: path.suffix == ".log", LOST),
    "the names of segments": (lambda path: path.name.endswith("-0"), LOST),
    "a checkpoint file": (lambda path: path.suffix == ".tmp", "its start was noted as"),
    "the names of checkpoint files": (lambda path: path.name == "disk", "its start was noted as"),
}
"""Files that are not flushed, and the promise that is broken by it."""


@pytest.mark.parametrize(("forgets", "told"), MISTAKES.values(), ids=MISTAKES)
def test_missing_flush_is_detected(forgets: Forgets, told: str) -> None:
    counts = RoundCounts()
    broken = (one for seed in range(SEEN_WITHIN) for one in play(seed, counts, forgets=forgets))
    assert any(told in one for one in broken), f"not on any of {counts.disks} disks"


def _left(*calls: object) -> list[dict[Path, bytes]]:
    """Return the distinct files that many power losses leave behind these calls."""
    disk, found = ModelDisk(), list[dict[Path, bytes]]()
    for call in calls:
        disk.take(call)  # type: ignore[arg-type]
    for seed in range(200):
        left = disk.left(Random(seed))
        if left not in found:
            found.append(left)
    return found


MADE = (FileLink(ROOT, "a", FILE, is_folder=False), FlushNames(ROOT))


def test_flushed_data_survives_every_power_loss() -> None:
    assert _left(*MADE, Write(FILE, 0, b"x" * 2000), FlushFile(FILE)) == [{A: b"x" * 2000}]


def test_unflushed_sectors_are_lost_in_any_combination_as_zeros() -> None:
    found = _left(*MADE, Write(FILE, 0, b"x" * 1024))
    assert {A: b""} in found
    assert {A: b"\0" * 512 + b"x" * 512} in found
    assert {A: b"x" * 512 + b"\0" * 512} in found
    assert {A: b"x" * 1024} in found


def test_file_names_are_lost_independently_of_contents() -> None:
    calls = (FileLink(ROOT, "a", FILE, is_folder=False), Write(FILE, 0, b"x"), FlushFile(FILE))
    assert {} in _left(*calls)
    renamed = _left(*calls, FlushNames(ROOT), Rename(ROOT, "a", "b"))
    assert sorted(renamed, key=str) == [{A: b"x"}, {B: b"x"}]


def test_same_seed_gives_same_rounds() -> None:
    first, again = RoundCounts(), RoundCounts()
    assert [*play(3, first)] == [*play(3, again)]
    assert first == again
