"""Schedules come from their seeds alone, and hold only what a network can do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.proxies.rules import read_rule
from harness.proxies.toxics.named import NamedToxic
from labs.clients_under_faults.__main__ import seeds_of
from labs.clients_under_faults.schedule import MAKERS, ScheduledFault, schedule

ALL = [schedule(seed) for seed in range(200)]
FAULTS = [fault for one in ALL for fault in one.faults]
CHANGES_A_STREAM = {"corrupt"}
LEGAL_ACTIONS = {"close", "reset", "truncate", "delay"}
"""A frame that is lost takes its connection with it."""


def shown(seed: str) -> str:
    command = [
        sys.executable,
        "-P",
        "-m",
        "labs.clients_under_faults",
        "--show",
        "--seeds",
        "0..9",
    ]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.rotates(8)
def test_same_seed_gives_same_schedule_in_other_process() -> None:
    here = "".join(f"{schedule(seed)}\n" for seed in range(10))
    assert shown("1") == shown("2") == here


def test_different_seeds_give_different_schedules() -> None:
    assert len({str(one.faults) for one in ALL}) == len(ALL)


def test_every_kind_of_fault_is_drawn() -> None:
    names = {str(f.words.get("name") or f.words.get("id") or f.kind) for f in FAULTS}
    assert {name.rstrip("0123456789").rstrip() for name in names} == set(MAKERS)


@pytest.mark.parametrize("kind", ["toxic", "rule"])
def test_every_scheduled_toxic_and_rule_is_parsable(kind: str) -> None:
    read = {"toxic": NamedToxic.from_json, "rule": read_rule}[kind]
    chosen = [fault for fault in FAULTS if fault.kind == kind]
    assert chosen
    for fault in chosen:
        read(fault.words)


def test_scheduled_faults_use_only_actions_possible_on_tcp() -> None:
    for fault in FAULTS:
        if fault.kind == "toxic":
            assert fault.words["type"] not in CHANGES_A_STREAM
        elif fault.kind == "rule":
            (action,) = set(fault.words) - {"id", "on", "api", "first", "probability"}
            assert action in LEGAL_ACTIONS
            cut = fault.words.get("truncate")
            assert cut is None or cut["then"] in ("close", "reset")


def test_schedule_is_sorted_and_heals_at_last_fault_end() -> None:
    for one in ALL:
        ends = [fault.at_ms + fault.for_ms for fault in one.faults]
        assert one.healed_ms == max(ends)
        assert [fault.at_ms for fault in one.faults] == sorted(f.at_ms for f in one.faults)


def test_scheduled_fault_formats_as_text() -> None:
    fault = ScheduledFault(
        5, 10, "rule", {"id": "x", "on": "request", "api": "Fetch", "close": "before"}
    )
    assert str(fault) == "at 5 ms for 10 ms: rule id=x on=request api=Fetch close=before"


def test_seed_option_parses_ranges_and_rejects_wrong_ones() -> None:
    assert seeds_of("3, 5..7,6") == [3, 5, 6, 7]
    for wrong, why in {"x": "'x' is no seed", "3..": "is no seed", "4..2": "names no seed"}.items():
        with pytest.raises(click.BadParameter, match=why):
            seeds_of(wrong)
