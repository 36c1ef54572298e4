"""Each damage alone, on a folder of our own making: what it changes, and that it repeats."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.codec.data_framing import producer_snapshot_bytes
from harness.codec.definition import ZERO_UUID
from harness.codec.messages import ProducerSnapshot
from harness.codec.records.batch import BatchHeader, split_batches
from labs.recovery.case import LEAST_OF_A_KIND, DamageCase, KindOfDamage, draw, rounds, sample
from labs.recovery.damages import KINDS
from labs.recovery.damages.batches import FIELDS, append_batch, cut_last, flip_field, zero_tail
from labs.recovery.log_copy import CopyNotes, LogCopy, batches_in, copy_of
from labs.recovery.source import LogSource
from tests.reference_broker.storage.made_folder import (
    BASES,
    BATCHES,
    END,
    FIRST_TIME,
    PARTITION,
    make_folder,
)

pytestmark = pytest.mark.rotates(8)

NOTES = CopyNotes(recovery_point=100, log_start=0, high_watermark=150)
TURNS = 10


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> LogSource:
    folder = make_folder(tmp_path_factory.mktemp("made"), padding_bytes=4096) / PARTITION
    made = LogCopy(folder, NOTES)
    made.write(producer_snapshot_bytes(ProducerSnapshot()), 50, ".snapshot")
    made.write(made.read(50, ".txnindex") * 2, 100, ".txnindex")
    return LogSource("made", folder, NOTES, END, 3, FIRST_TIME)


@pytest.fixture
def copy(source: LogSource, tmp_path: Path) -> LogCopy:
    return copy_of(source.folder, source.notes, tmp_path / "copy")


def contents(copy: LogCopy) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in copy.folder.iterdir() if path.is_file()}


def case_of(kind: KindOfDamage, source: LogSource, turn: int) -> DamageCase:
    return DamageCase(turn + 1, 5, kind, source, clean=False, from_zero=False, turn=turn)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damage_is_repeatable_and_leaves_source_unchanged(
    kind: KindOfDamage, source: LogSource, tmp_path: Path
) -> None:
    before = contents(LogCopy(source.folder, NOTES))
    assert kind.fits(LogCopy(source.folder, NOTES))
    changed = 0
    for turn in range(TURNS):
        case = case_of(kind, source, turn)
        one, said = case.make(tmp_path / f"{turn}-one", ZERO_UUID)
        other, again = case.make(tmp_path / f"{turn}-other", ZERO_UUID)
        assert (contents(one), one.notes, one.directory) == (
            contents(other), other.notes, other.directory
        )  # fmt: skip
        assert said == again
        assert said.says
        names = {path.name for path in one.folder.iterdir()}
        is_changed = (contents(one), one.notes, one.directory) != (before, NOTES, {})
        changed += is_changed or names != before.keys()
    assert contents(LogCopy(source.folder, NOTES)) == before
    assert (changed == 0) == (kind.name == "nothing")


def test_batches_are_found_by_length(source: LogSource) -> None:
    made = LogCopy(source.folder, NOTES)
    assert made.base_offsets == list(BASES)
    assert len(made.batches()) == BATCHES
    assert made.end_offset == END
    data = made.read(100)
    assert [each.start for each in made.batches()] == [at for _, at in split_batches(data)]
    assert batches_in(data[:-1])[-1].last_offset == END - 11
    assert batches_in(data[:5]) == []


def test_cut_last_cuts_at_every_byte_of_last_batch(source: LogSource, tmp_path: Path) -> None:
    last = LogCopy(source.folder, NOTES).batches()[-1]
    size, kept = last.end - last.start, set()
    for turn in range(size):
        cut = copy_of(source.folder, NOTES, tmp_path / str(turn))
        damage = cut_last(cut, random.Random(0), turn)
        kept.add(len(cut.read(100)) - last.start)
        assert damage.offset == last.base_offset
    assert kept == set(range(size))


@pytest.mark.parametrize("name", FIELDS)
def test_flip_field_flips_one_bit_of_field(name: str, copy: LogCopy) -> None:
    before, batches = copy.read(100), copy.batches()
    damage = flip_field(name, copy, random.Random(3), 0)
    changed = [(at, one ^ two) for at, (one, two) in enumerate(
        zip(before, copy.read(100), strict=True)) if one != two]  # fmt: skip
    ((at, bits),) = changed
    first, behind = FIELDS[name]
    assert first <= at - batches[-1].start < behind
    assert bits.bit_count() == 1
    assert damage.offset == batches[-1].base_offset


def test_zero_tail_reports_offset_of_first_damaged_batch(copy: LogCopy) -> None:
    before, batches = copy.read(100), copy.batches()
    damage = zero_tail(copy, random.Random(8), 0)
    after = copy.read(100)
    first = next(
        at for at in range(len(before)) if before[at:] != after[at:] and not any(after[at:])
    )
    struck = [each.base_offset for each in batches if each.start <= first < each.end]
    assert len(after) == len(before)
    assert struck == [damage.offset]


def test_appended_batch_has_valid_header(copy: LogCopy) -> None:
    size = len(copy.read(100))
    damage = append_batch(copy, random.Random(1), 1)
    added = BatchHeader.read(copy.read(100), size)
    assert (added.base_offset, added.size_bytes) == (END + 1, len(copy.read(100)) - size)
    assert damage.offset == END


def test_damage_kinds_have_unique_names() -> None:
    twice = [name for name, times in Counter(kind.name for kind in KINDS).items() if times > 1]
    assert twice == []


def test_larger_draw_begins_with_smaller_draw_of_same_seed(source: LogSource) -> None:
    few, many = draw(KINDS, [source], 20, 4), draw(KINDS, [source], 600, 4)
    assert many[:20] == few
    assert {case.kind.name for case in many} == {kind.name for kind in KINDS}
    assert draw(KINDS, [source], 20, 5) != few


def test_sample_contains_every_kind_and_spreads_turns(source: LogSource) -> None:
    many = draw(KINDS, [source], 2_500, 1)
    some = sample(many, 500)
    assert len(some) == 500
    assert [case for case in many if case in some] == some
    turns: dict[str, list[int]] = {}
    for case in some:
        turns.setdefault(case.kind.name, []).append(case.turn)
    assert turns.keys() == {kind.name for kind in KINDS}
    assert all(len(each) >= LEAST_OF_A_KIND for each in turns.values())
    torn = turns["replication-offset-checkpoint: torn"]
    assert torn == sorted(set(torn))
    assert max(torn) > 5 > min(torn)
    assert sample(many, len(many)) == many


def test_rounds_contain_each_case_once_and_one_shutdown_marker(source: LogSource) -> None:
    cases = draw(KINDS, [source], 300, 2)
    made = rounds(cases, 50)
    assert sorted(case.number for group in made for case in group) == list(range(1, 301))
    for group in made:
        assert len(group) <= 50
        assert len({case.clean for case in group}) == 1
        assert len(group) == 1 or not any(case.kind.alone for case in group)
