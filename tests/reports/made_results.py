"""Writes result Parquet for tests: chosen rows, or thousands drawn from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reports.arrow import pa, pq
from reports.schema import COLUMNS, RUN_KEY, SCHEMA_VERSION, SCHEMA_VERSION_KEY
from reports.verdicts import WORST_FIRST

Row = dict[str, Any]

DEFAULTS: Mapping[str, Any] = {
    "run": "r1",
    "suite_version": "0.1.0",
    "catalogue_version": "2026.1",
    "seed": 7,
    "target": "reference",
    "implementation": "reference broker",
    "release": "0.1.0",
    "requirement": "PROD-001",
    "area": "PROD",
    "level": "MUST",
    "case": "protocol/test_produce.py::test_acks",
    "check": 1,
    "attempt": 1,
    "api_key": None,
    "api_version": None,
    "verdict": "passed",
    "reason": "",
    "capability_missing": None,
    "duration_ms": 1.5,
    "evidence": None,
    "at": "2026-01-01T00:00:00.000000+00:00",
    "run_complete": True,
}


def row(**values: Any) -> Row:
    """One check line with defaults for what is not said."""
    unknown = set(values) - set(DEFAULTS)
    assert not unknown, f"no such column: {unknown}"
    return {**DEFAULTS, **values}


def write_results(folder: Path, rows: Iterable[Row], version: str = SCHEMA_VERSION) -> Path:
    """Writes `folder`/results/run=<run>/part-0.parquet, a file a run; returns `folder`."""
    by_run: dict[str, list[Row]] = {}
    for line in rows:
        by_run.setdefault(line["run"], []).append(line)
    for run, lines in by_run.items():
        write_part(folder / "results" / f"run={run}" / "part-0.parquet", lines, version)
    return folder


def write_part(file: Path, lines: list[Row], version: str = SCHEMA_VERSION) -> None:
    """One Parquet file as a run's writer makes it; without lines it is an empty run of "none"."""
    about = lines[0] if lines else row(run=file.parent.name.partition("=")[2], target="none")
    cases = sorted({line["case"] for line in lines})
    said = {
        "header": {"run": about["run"], "target": about["target"]},
        "plan": [{"case": case, "requirements": []} for case in cases],
        "footer": None,
    }
    schema = pa.schema(
        [
            pa.field(column.name, pa.type_for_alias(column.arrow_type), column.nullable)
            for column in COLUMNS
        ],
        metadata={SCHEMA_VERSION_KEY: version.encode(), RUN_KEY: json.dumps(said).encode()},
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    values = [{name: line[name] for name in schema.names} for line in lines]
    pq.write_table(pa.Table.from_pylist(values, schema=schema), file)


RUNS = (
    # run, target, minute of its start, complete
    ("0042", "kafka:4.4.0", 10, True),
    ("42", "kafka:4.4.0", 20, True),
    ("1e3", "kafka:4.4.0", 5, False),
    ("2026-01-01", "reference", 30, False),
    ("7", "reference", 12, True),
    ("r-b", "kafka:3.9.2", 40, True),
    ("r-a", "kafka:3.9.2", 40, True),
    ("true", "external:127.0.0.1:9092", 3, True),
)


def drawn_rows(seed: int = 11, requirements: int = 60) -> list[Row]:
    """Some thousand rows: every verdict, retries, several runs of a target, incomplete runs, run
    ids that look like numbers, dates and booleans, two runs of one target that are equally new.
    """
    dice = random.Random(seed)
    areas = ("CONN", "ENC", "APIV", "META", "PROD", "FETCH", "LISTO")
    rows = []
    for run, target, minute, complete in RUNS:
        about = {"run": run, "target": target, "run_complete": complete, "release": target[-5:]}
        for number in range(requirements):
            if dice.random() < 0.1:
                continue
            area = areas[number % len(areas)]
            rows += _cell_rows(dice, about, f"{area}-{number:03}", area, number, minute)
    return rows


def _cell_rows(
    dice: random.Random, about: Row, requirement: str, area: str, number: int, minute: int
) -> list[Row]:
    level = ("MUST", "SHOULD", "MAY")[number % 3]
    # Half of the cells have one verdict only, so that each verdict is the worst of some cell.
    names = [word.name for word in WORST_FIRST]
    verdicts = [dice.choice(names)] if dice.random() < 0.5 else dice.sample(names, 3)
    rows = []
    for version in dice.sample([None, 0, 1, 2, 3, 9, 10, 11], dice.randint(1, 5)):
        for attempt in range(1, dice.choice((1, 1, 1, 3)) + 1):
            for check in range(1, dice.randint(1, 3) + 1):
                verdict = dice.choice(verdicts)
                missing = "own_broker" if verdict == "not_applicable" else None
                rows.append(
                    row(
                        **about,
                        requirement=requirement,
                        area=area,
                        level=level,
                        case=f"protocol/test_{area.lower()}.py::test_{number}",
                        check=check,
                        attempt=attempt,
                        api_key=0 if version is not None else None,
                        api_version=version,
                        verdict=verdict,
                        reason="" if verdict == "passed" else f"seen {dice.randint(0, 4)} <b>",
                        capability_missing=missing,
                        evidence="evidence/x.txt" if verdict == "failed" else None,
                        at=f"2026-01-01T00:{minute:02}:{min(number, 59):02}.000000+00:00",
                    )
                )
    return rows
