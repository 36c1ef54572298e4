"""The same matrix computed a second time, in plain Python over pyarrow's reading of the files."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from reports.arrow import pq
from tests.reports.made_results import ADVERTISES_NOTHING

# Its own list on purpose.
WORST_FIRST = [
    "harness_error",
    "failed",
    "inconclusive",
    "warning",
    "passed",
    "not_applicable",
    "not_supported",
]


def _worst(verdicts: Any) -> str:
    return str(min(verdicts, key=WORST_FIRST.index))


def newest_runs(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Target to the run that counts."""
    newest: dict[str, tuple[datetime, str]] = {}
    for line in lines:
        age = (datetime.fromisoformat(line["at"]), line["run"])
        newest[line["target"]] = max(newest.get(line["target"], age), age)
    return {target: run for target, (_, run) in newest.items()}


def _counted(results: Path) -> list[dict[str, Any]]:
    files = sorted((results / "results").glob("run=*/*.parquet"))
    lines = [line for file in files for line in pq.ParquetFile(file).read().to_pylist()]
    newest = newest_runs(lines)
    return [line for line in lines if newest[line["target"]] == line["run"]]


def api_opinion(results: Path) -> dict[tuple[int, int, str], dict[str, Any]]:
    """API key, version and target to what matrix.json should say; all runs declare Produce 1 to
    9, API 18 0 to 4 and API 10003 0 to 1, and PROD-004 is what decodes.
    """
    lines = _counted(results)
    by_place: dict[tuple[int, int, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for line in lines:
        if line["api_version"] is not None:
            place = (line["api_key"], line["api_version"], line["target"])
            by_place[place][line["requirement"]].append(line["verdict"])
    declared = {
        (key, version, target)
        for target in {line["target"] for line in lines}
        for key, versions in ((0, range(1, 10)), (18, range(5)), (10_003, range(2)))
        for version in versions
    }
    found = {}
    for place in declared | set(by_place):
        said = {name: _worst(verdicts) for name, verdicts in by_place[place].items()}
        worst = _worst(said.values()) if said else "passed"
        if place not in declared and WORST_FIRST.index(worst) >= WORST_FIRST.index("passed"):
            continue
        decoding = [verdict for name, verdict in said.items() if name == "PROD-004"]
        others = [verdict for name, verdict in said.items() if name != "PROD-004"]
        found[place] = {
            "declared": place in declared and place[2] != ADVERTISES_NOTHING,
            "observed": place in declared and place[2] == ADVERTISES_NOTHING,
            "decodable": _worst(decoding) if decoding else None,
            "behaves": _worst(others) if others else None,
            "requirements": said,
        }
    return found


def second_opinion(results: Path) -> dict[str, Any]:
    """`targets`, `requirements` and per-area counts, as matrix.json should hold them."""
    files = sorted((results / "results").glob("run=*/*.parquet"))
    lines = [line for file in files for line in pq.ParquetFile(file).read().to_pylist()]
    newest = newest_runs(lines)
    counted = [line for line in lines if newest[line["target"]] == line["run"]]
    parts: dict[tuple[str, str], dict[tuple[str, int | None], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    facts = {}
    for line in counted:
        cell = parts[line["requirement"], line["target"]]
        cell[line["case"], line["api_version"]].append(line["verdict"])
        facts[line["requirement"]] = (line["area"], line["level"])
    verdicts = {
        key: _worst(verdict for said in cell.values() for verdict in said)
        for key, cell in parts.items()
    }
    counts = Counter(
        (facts[requirement][0], target, level, verdict)
        for (requirement, target), verdict in verdicts.items()
        for level in (None, facts[requirement][1])
    )
    requirements = {
        requirement: {
            "area": area,
            "level": level,
            "verdicts": {t: v for (r, t), v in verdicts.items() if r == requirement},
            "parts": {
                t: {key: _worst(said) for key, said in cell.items()}
                for (r, t), cell in parts.items()
                if r == requirement
            },
        }
        for requirement, (area, level) in facts.items()
    }
    return {"newest": newest, "requirements": requirements, "counts": counts}
