"""Writes result Parquet for tests: chosen rows, or thousands drawn from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reports.arrow import pa, pq
from reports.beside import FAULTS, HISTORIES, WIRE, ReportedDataset
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
    "subtest": None,
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
        "header": {
            "run": about["run"],
            "target": about["target"],
            "api_versions": {"0": [1, 9], "18": [0, 4], "7": [3, 2], "10003": [0, 1]},
            "versions_source": (
                "observed" if about["target"] == ADVERTISES_NOTHING else "advertised"
            ),
        },
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


ADVERTISES_NOTHING = "external:127.0.0.1:9092"
RUNS = (
    # run, target, minute of its start, complete
    ("0042", "kafka:4.4.0", 10, True),
    ("42", "kafka:4.4.0", 20, True),
    ("1e3", "kafka:4.4.0", 5, False),
    ("2026-01-01", "reference", 30, False),
    ("7", "reference", 12, True),
    ("r-b", "kafka:3.9.2", 40, True),
    ("r-a", "kafka:3.9.2", 40, True),
    ("true", ADVERTISES_NOTHING, 3, True),
)


def drawn_rows(seed: int = 11, requirements: int = 60) -> list[Row]:
    """Some thousand rows: every verdict, retries, several runs of a target, incomplete runs, run
    ids that look like numbers, dates and booleans, two runs of one target that are equally new.
    """
    rng = random.Random(seed)
    areas = ("CONN", "ENC", "APIV", "META", "PROD", "FETCH", "LISTO")
    rows = []
    for run, target, minute, complete in RUNS:
        about = {"run": run, "target": target, "run_complete": complete, "release": target[-5:]}
        for number in range(requirements):
            if rng.random() < 0.1:
                continue
            area = areas[number % len(areas)]
            rows += _cell_rows(rng, about, f"{area}-{number:03}", area, number, minute)
    return rows


def _cell_rows(
    rng: random.Random, about: Row, requirement: str, area: str, number: int, minute: int
) -> list[Row]:
    level = ("MUST", "SHOULD", "MAY")[number % 3]
    # Half of the cells have one verdict only, so that each verdict is the worst of some cell.
    names = [word.name for word in WORST_FIRST]
    verdicts = [rng.choice(names)] if rng.random() < 0.5 else rng.sample(names, 3)
    rows = []
    for version in rng.sample([None, 0, 1, 2, 3, 9, 10, 11], rng.randint(1, 5)):
        for attempt in range(1, rng.choice((1, 1, 1, 3)) + 1):
            for check in range(1, rng.randint(1, 3) + 1):
                verdict = rng.choice(verdicts)
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
                        reason="" if verdict == "passed" else f"seen {rng.randint(0, 4)} <b>",
                        capability_missing=missing,
                        evidence="evidence/x.txt" if verdict == "failed" else None,
                        at=f"2026-01-01T00:{minute:02}:{min(number, 59):02}.000000+00:00",
                    )
                )
    return rows


def write_wire(folder: Path, run: str, rows: Iterable[Row]) -> Path:
    """Writes `folder`/wire/run=<run>/part-0.parquet; what a row does not say is empty."""
    empty = {"field": "", "error_code": None, "error_name": None}
    return _write_part(folder, WIRE, run, [{**empty, **row} for row in rows])


def write_faults(folder: Path, run: str, rows: Iterable[Row]) -> Path:
    """Writes `folder`/faults/run=<run>/part-0.parquet; a row that says nothing of it is armed."""
    empty = {"attempt": 1, "at_ms": 0.0, "what": "armed", "detail": "{}"}
    return _write_part(folder, FAULTS, run, [{**empty, **row} for row in rows])


def write_histories(folder: Path, run: str, rows: Iterable[Row]) -> Path:
    """Writes `folder`/histories/run=<run>/part-0.parquet; what a row does not say is of a send."""
    empty = {"attempt": 1, "process": "producer", "action": "send", "partition": 0}
    return _write_part(folder, HISTORIES, run, [{**empty, **row} for row in rows])


def history_rows(target: str, count: int) -> list[Row]:
    """So many acknowledged sends, a refused one, one without an end, a fault, and a final read."""
    rows: list[Row] = []
    for n in range(count):
        rows += [
            {"outcome": "invoke", "value": f"{n}", "at_ms": 2.0 * n},
            {"outcome": "ok", "value": f"{n}", "at_ms": 2.0 * n + 1, "offset": n},
        ]
    late = 2.0 * count
    killed = {"process": "cluster", "action": "fault", "partition": None, "outcome": "info"}
    refused = {"value": "x", "at_ms": late + 3}
    rows += [
        {**killed, "detail": "kill 2", "at_ms": late},
        {**refused, "outcome": "invoke"},
        {**refused, "outcome": "fail", "detail": "NOT_ENOUGH_REPLICAS", "at_ms": late + 4},
        {"outcome": "invoke", "value": "y", "at_ms": late + 5},
    ]
    read = {"process": "reader", "action": "final_read", "outcome": "ok", "at_ms": late + 9}
    rows += [{**read, "value": f"{n}", "offset": n} for n in range(count)] + [read]
    about = {"target": target, "case": "protocol/test_prod.py::test_0"}
    return [{**about, **row, "ordinal": number} for number, row in enumerate(rows)]


def _write_part(folder: Path, beside: ReportedDataset, run: str, rows: list[Row]) -> Path:
    schema = pa.schema(
        [(name, pa.type_for_alias(kind)) for name, kind in beside.columns],
        metadata={beside.version_key: beside.version.encode()},
    )
    file = folder / beside.name / f"run={run}" / "part-0.parquet"
    file.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([{"run": run, **row} for row in rows], schema=schema), file)
    return file


def fault_rows(target: str, count: int) -> list[Row]:
    """So many events of the second attempt of a case, last first, and one of the first attempt."""
    about = {"target": target, "case": "protocol/test_prod.py::test_0"}
    fired = {
        "what": "fired",
        "link": "client->broker",
        "connection": 0,
        "direction": "upstream",
        "frame": 2,
        "rule": "drop it",
        "detail": '{"action": "drop", "version": 3}',
    }
    second = [
        {**about, **fired, "attempt": 2, "ordinal": n, "at_ms": 2.5 * n} for n in range(count)
    ]
    return [*reversed(second), {**about, "ordinal": 0}]


def wire_rows(target: str, seed: int) -> list[Row]:
    """Wire coverage of Produce v9 in both directions, every kind of row twice."""
    rng = random.Random(seed)
    about = {"target": target, "api_key": 0, "api_name": "Produce", "api_version": 9}
    request, answer = {**about, "direction": "request"}, {**about, "direction": "response"}
    rows = []
    for _ in range(2):
        rows += [{**request, "what": "message"}, {**answer, "what": "message"}]
        for code, name in ((0, "NONE"), (2, "CORRUPT_MESSAGE")):
            error = {"what": "error", "error_code": code, "error_name": name}
            rows.append({**answer, **error, "field": "responses.error_code"})
        for what in ("default", "other", "null", "empty"):
            rows.append({**request, "what": what, "field": "topic_data.name"})
        rows.append({**answer, "what": "unknown_tag", "field": "responses"})
    return [{**row, "count": rng.randint(1, 9)} for row in rows]


def defect_table(target: str, at: str, **values: Any) -> Row:
    """A table of one defect, as `kafka-conformance lab defects` writes it."""
    defect = {
        "requirement": "PROD-004",
        "defect": "acks_are_early",
        "meaning": "acks=all is answered at once",
        "killed": True,
        "reason": "answered too early",
        "problem": "",
        "changed": [{"requirement": "PROD-004", "was": "passed", "now": "failed"}],
    }
    defects = [{**defect, **values}]
    return {
        "schema_version": 1,
        "target": target,
        "at": at,
        "complete": False,
        "defects": defects,
        "unproved": [],
    }


def write_defects(folder: Path, name: str, table: Row) -> Path:
    """Writes `folder`/defects/<name>.json."""
    file = folder / "defects" / f"{name}.json"
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(json.dumps(table), "utf-8")
    return file


def write_beside(folder: Path) -> None:
    """Wire coverage, faults, histories (of runs that count and others), defects, evidence."""
    write_wire(folder, "42", wire_rows("kafka:4.4.0", 1))
    write_wire(folder, "0042", wire_rows("kafka:4.4.0", 2))
    write_faults(folder, "42", fault_rows("kafka:4.4.0", 250))
    write_faults(folder, "0042", fault_rows("kafka:4.4.0", 3))
    write_histories(folder, "42", history_rows("kafka:4.4.0", 2500))
    write_histories(folder, "0042", history_rows("kafka:4.4.0", 3))
    newer, older = "2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"
    write_defects(folder, "newer", defect_table("reference", newer))
    write_defects(folder, "older", defect_table("reference", older, killed=False, problem="no"))
    for run, *_ in RUNS:
        evidence = folder / "runs" / run / "evidence" / "x.txt"
        evidence.parent.mkdir(parents=True)
        evidence.write_text(f"repeat   pytest of {run}\n-- wire --\n> Produce\n", "utf-8")
