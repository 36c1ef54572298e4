"""Schedules of overlapping faults: what is drawn, and that each fault is healed alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.targets.errors import TargetError
from labs.transaction_histories.fault_schedules import main
from labs.transaction_histories.nemesis import (
    CUT,
    KILL,
    KINDS,
    LOST,
    PAUSE,
    SPLIT,
    TransactionFault,
)
from labs.transaction_histories.schedules import (
    MOST,
    OverlappingFaults,
    TimedFault,
    carry_out,
    schedule,
)

NODES, ALL = [1, 2, 3], [*KINDS, SPLIT]


class _Noted:
    """A nemesis that notes what begins and what is healed."""

    def __init__(self, fails: str = "") -> None:
        self.notes: list[str] = []
        self._fails = fails

    def begin(self, fault: TransactionFault) -> Callable[[], None]:
        if fault.kind == self._fails:
            raise TargetError("it does not begin")
        self.notes.append(f"{fault.kind} begins")
        return lambda: self.notes.append(f"{fault.kind} ends")


def _timed(kind: str, at_ms: int, for_ms: int) -> TimedFault:
    return TimedFault(at_ms, TransactionFault(kind, 1, "Produce", for_ms, 1.0))


def test_schedules_of_a_seed_are_always_the_same() -> None:
    assert schedule(7, NODES, ALL) == schedule(7, NODES, ALL)
    assert len({str(schedule(seed, NODES, ALL)) for seed in range(50)}) == 50


def test_schedules_have_all_kinds_and_faults_that_overlap() -> None:
    drawn = [schedule(seed, NODES, ALL) for seed in range(100)]
    assert {kind for one in drawn for kind in one.kinds} == set(ALL)
    assert all(1 <= len(one.parts) <= MOST for one in drawn)
    assert any(
        first.ends_ms > then.at_ms
        for one in drawn
        for first, then in zip(one.parts, one.parts[1:], strict=False)
    )


def test_a_process_has_one_fault_in_a_schedule() -> None:
    for seed in range(100):
        parts = schedule(seed, NODES, [KILL, PAUSE]).parts
        nodes = [one.fault.node for one in parts]
        assert len(nodes) == len(set(nodes)), f"seed {seed}: {nodes}"
        assert [one.at_ms for one in parts] == sorted(one.at_ms for one in parts)


def test_each_fault_is_healed_alone_in_the_order_of_ends() -> None:
    nemesis = _Noted()
    faults = OverlappingFaults((_timed(SPLIT, 0, 60), _timed(CUT, 10, 10), _timed(LOST, 40, 1)))
    carry_out(faults, nemesis)  # type: ignore[arg-type]
    assert nemesis.notes == [
        *("split begins", "cut begins", "cut ends"),
        *("lost answers begins", "lost answers ends", "split ends"),
    ]


def test_faults_are_healed_if_one_does_not_begin() -> None:
    nemesis = _Noted(fails=CUT)
    faults = OverlappingFaults((_timed(KILL, 0, 500), _timed(CUT, 1, 1)))
    with pytest.raises(TargetError, match="does not begin"):
        carry_out(faults, nemesis)  # type: ignore[arg-type]
    assert nemesis.notes == ["kill begins", "kill ends"]


@pytest.mark.slow
@pytest.mark.deep
def test_clients_through_overlapping_faults_are_valid(tmp_path: Path) -> None:
    words = ["--target", "reference,nodes=3", "--seeds", "1..2", "--out", str(tmp_path)]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 0, ended.output
    assert ended.output.count(": valid, ") == 2
    assert list(tmp_path.iterdir()) == []
