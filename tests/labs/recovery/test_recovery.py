"""A short run, and the report and explanation of differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from labs.recovery.case import Damage, DamageCase, KindOfDamage
from labs.recovery.comparison import (
    ComparedCopies,
    RecoveryDifference,
    RecoveryTableError,
    difference_of,
    differing,
    read_reasons,
    reason_for,
    what_became,
)
from labs.recovery.damages.batches import nothing
from labs.recovery.log_copy import CopyNotes
from labs.recovery.observing import Outcome
from labs.recovery.recovery_side import REFUSED
from labs.recovery.run import Compare, run
from labs.recovery.source import LogSource
from labs.recovery.table import RecoveryTable
from tests.targets import kinds

SOURCE = LogSource("made", Path(), CopyNotes(), 100, 3, 0)
CASE = DamageCase(
    7, 1, KindOfDamage("flip: magic", nothing), SOURCE, clean=False, from_zero=False, turn=0
)
SIDES = frozenset({"kafka:4.4.0", "kafka:3.9.2"})
REASONS = """
explained_version = 1
[[difference]]
sides = ["kafka:3.9.2", "kafka:4.4.0"]
kinds = ["flip: magic"]
names = ["start", "log end", "records"]
reason = "KAFKA-0"
"""


def seen(end: int, *, start: int = 0, read_to: int | None = None, error: int = 0) -> Outcome:
    records = [error, end if read_to is None else read_to, 10, "digest", []]
    return {
        "start": "starts",
        "log end": [0, end, -1],
        "log start": [0, start, -1],
        "records": records,
    }


def test_differing_lists_fields_and_ignores_refusal_reasons() -> None:
    assert differing(seen(100), seen(100)) == []
    assert differing(seen(100), seen(90)) == ["log end", "records"]
    refused = {"start": REFUSED, "why": "one"}
    assert differing(refused, {"start": REFUSED, "why": "other"}) == []
    assert "start" in differing(refused, seen(100))


def differs(
    kind: str, names: Sequence[str], sides: frozenset[str] = SIDES, says: str = "a bit"
) -> RecoveryDifference:
    return RecoveryDifference(kind, says, names, sides, frozenset())


def test_reason_covers_only_its_kinds_names_and_sides(tmp_path: Path) -> None:
    path = tmp_path / "explained.toml"
    path.write_text(REASONS)
    reasons = read_reasons(path)
    assert reason_for(differs("flip: magic", ["log end"]), reasons) == "KAFKA-0"
    assert reason_for(differs("flip: magic", []), reasons) == ""
    assert reason_for(differs("flip: magic", ["log end", "producers"]), reasons) == ""
    assert reason_for(differs("flip: length", ["log end"]), reasons) == ""
    one = frozenset({"kafka:4.4.0"})
    assert reason_for(differs("flip: magic", ["log end"], one), reasons) == ""


def test_reason_is_limited_by_damage_text_and_refusing_side(tmp_path: Path) -> None:
    path = tmp_path / "explained.toml"
    path.write_text(f'{REASONS}says = "^bit 7"\nrefuses = "kafka:4.4.0"\n')
    reasons = read_reasons(path)
    refused: Outcome = {"start": REFUSED}
    starts: Outcome = {"start": "starts", "log end": [0, 1]}
    for says, left, right, found in (
        ("bit 7 of it", refused, starts, "KAFKA-0"),
        ("bit 6 of it", refused, starts, ""),
        ("bit 7 of it", starts, refused, ""),
        ("bit 7 of it", starts, {**starts, "log end": [0, 2]}, ""),
    ):
        outcomes = {"kafka:4.4.0": left, "kafka:3.9.2": right}
        assert reason_for(difference_of(CASE, Damage(says), outcomes), reasons) == found


@pytest.mark.parametrize("text", ["", REASONS.replace("reason =", "why ="),
                                  REASONS.replace("KAFKA-0", ""),
                                  f'{REASONS}refuses = "kafka:2.8.2"\n',
                                  f"{REASONS}more = 1\n"])  # fmt: skip
def test_invalid_reasons_file_raises_recovery_table_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "explained.toml"
    path.write_text(text)
    with pytest.raises(RecoveryTableError):
        read_reasons(path)


def test_committed_reasons_file_is_readable() -> None:
    assert all(each.reason for each in read_reasons())


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (seen(100), "keeps its end"),
        (seen(60), "ends at the damage"),
        (seen(50), "ends before the damage"),
        (seen(70), "ends behind the damage"),
        (seen(101), "ends higher"),
        (seen(60, start=20), "ends at the damage, starts later"),
        (seen(100, read_to=60), "keeps its end, reading ends early"),
        (seen(100, error=2), "keeps its end, reading gives error 2"),
        ({"start": REFUSED, "why": "it is so"}, REFUSED),
    ],
)
def test_outcome_of_log_is_described_in_words(outcome: Outcome, words: str) -> None:
    assert what_became(CASE, Damage("a bit", 60), outcome) == words


def test_recovery_table_lists_each_difference() -> None:
    damage = Damage("bit 3 of byte 16", 60)
    compared = [
        ComparedCopies(CASE, damage, seen(60), seen(60), ""),
        ComparedCopies(CASE, damage, seen(60), seen(50), ""),
        ComparedCopies(CASE, damage, seen(60), seen(50), "KAFKA-0"),
    ]
    table = RecoveryTable("kafka:4.4.0", "kafka:3.9.2", 1, compared, (1, 2), 3.0)
    told = table.markdown()
    assert not table.good
    assert "| flip: magic | 3 | 1 | 1 | 1 | 3 ends at the damage |" in told
    assert "case 7 (flip: magic; made, no marker): bit 3 of byte 16" in told
    assert "explained: KAFKA-0" in told
    assert RecoveryTable("a", "b", 1, compared[::2], (1, 1), 1.0).good


@pytest.mark.kafka
@pytest.mark.deep  # CI compares Kafka with the built-in broker, in a part of its own
def test_real_kafka_recovers_same_damage_identically(tmp_path: Path) -> None:
    kinds.need_kafka("4.4.0")
    wanted = Compare(40, 3, ("kafka:4.4.0", "kafka:4.4.0"), kinds=("cut", "flip", "nothing"))
    found = run(wanted, tmp_path, print)
    assert len(found.compared) > 10
    assert [each.told() for each in found.compared if each.names] == []
    for each in found.compared:
        became = what_became(each.case, each.damage, each.left)
        if each.case.kind.name == "nothing":
            assert became == "keeps its end", each.case
        if each.case.kind.name == "cut: the last batch" and not each.case.clean:
            assert became == "ends at the damage", each.case
