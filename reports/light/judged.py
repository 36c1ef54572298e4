"""The tables of what was judged: runs, requirements, areas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..verdicts import RANKS, worst
from .rows import Row, by, greatest, grouped, instant, of_runs

_NOTE = ("rank", "verdict", "subtest", "reason", "capability_missing", "evidence")
_TEXTS = ("reason", "capability_missing", "evidence")
_OF_A_RUN = ("implementation", "release", "suite_version", "catalogue_version", "seed")


def runs(checks: Iterable[Row]) -> list[Row]:
    """One row a target and run; of each target the run with the latest check counts."""
    stated = [_run(target, run, rows) for (target, run), rows in _by_run(checks).items()]
    newest: dict[str, Row] = {}
    for one in stated:
        other = newest.get(one["target"])
        if other is None or _age(one) > _age(other):
            newest[one["target"]] = one
    made = [{**one, "counts": newest[one["target"]] is one} for one in stated]
    made.sort(key=_age, reverse=True)
    made.sort(key=lambda one: (one["target"], not one["counts"]))
    for one in made:
        del one["last"]
    return made


def _by_run(checks: Iterable[Row]) -> dict[tuple[Any, ...], list[Row]]:
    return grouped(checks, "target", "run")


def _age(run: Row) -> tuple[Any, str]:
    return run["last"], run["run"]


def _run(target: str, run: str, rows: list[Row]) -> Row:
    ends = sorted(rows, key=lambda row: (instant(row), row["at"]))
    return {
        "target": target,
        "run": run,
        "run_complete": all(row["run_complete"] for row in rows),
        **{name: greatest(rows, name) for name in _OF_A_RUN},
        "first_check_at": ends[0]["at"],
        "last_check_at": ends[-1]["at"],
        "last": instant(ends[-1]),
        "checks": len(rows),
        "cases": len({row["case"] for row in rows}),
        "requirements": len({row["requirement"] for row in rows}),
        "retried_checks": sum(row["attempt"] > 1 for row in rows),
    }


def requirements(
    checks: Iterable[Row], all_runs: Iterable[Row], statements: Mapping[str, str]
) -> list[Row]:
    """One row a requirement and target: the verdict joined worst first, and its parts."""
    counted = {one["target"]: one for one in all_runs if one["counts"]}
    rows = of_runs(checks, counts_of(counted.values()))
    words = {name: _newest_words(same) for (name,), same in grouped(rows, "requirement").items()}
    made = []
    for (name, target), same in grouped(rows, "requirement", "target").items():
        parts = [_part(part) for part in grouped(same, "case", "api_version").values()]
        run = counted[target]
        made.append(
            {
                "requirement": name,
                **words[name],
                "statement": statements.get(name, ""),
                "target": target,
                "run": run["run"],
                "run_complete": run["run_complete"],
                "verdict": worst(part["verdict"] for part in parts),
                "checks": len(same),
                "duration_ms": sum(row["duration_ms"] for row in same),
                "unstable": any(part["unstable"] for part in parts),
                "parts": sorted(parts, key=by("case", "api_version")),
            }
        )
    return sorted(made, key=by("area", "requirement", "target"))


def counts_of(counted: Iterable[Row]) -> Collection[tuple[str, str]]:
    """Target and run of the runs that count."""
    return {(one["target"], one["run"]) for one in counted if one["counts"]}


def _newest_words(rows: list[Row]) -> Row:
    """Area and level as the newest run has them: catalogues may differ."""
    newest = max(
        rows,
        key=lambda row: (instant(row), row["run"], row["target"], row["area"], row["level"]),
    )
    return {"area": newest["area"], "level": newest["level"]}


def _part(rows: list[Row]) -> Row:
    """All attempts of a case at a version, joined: a retry never makes it pass."""
    attempts = [worst(row["verdict"] for row in same) for same in grouped(rows, "attempt").values()]
    notes = {tuple(note.values()): note for note in map(_note, rows)}
    return {
        "case": rows[0]["case"],
        "api_version": rows[0]["api_version"],
        "verdict": worst(attempts),
        "checks": len(rows),
        "attempts": len(attempts),
        "unstable": len(set(attempts)) > 1,
        "notes": [note for _, note in sorted(notes.items()) if any(note[name] for name in _TEXTS)],
    }


def _note(row: Row) -> Row:
    texts = {name: row.get(name) or "" for name in _NOTE[2:]}
    return {"rank": RANKS[row["verdict"]], "verdict": row["verdict"], **texts}


def areas(judged: Iterable[Row]) -> list[Row]:
    """One row an area, target and level, and one for the whole area: requirements by verdict."""
    rows = list(judged)
    whole = grouped(rows, "area", "target", "run", "run_complete")
    parts = grouped(rows, "area", "target", "run", "run_complete", "level")
    groups = [((*key, None), same) for key, same in whole.items()] + list(parts.items())
    made = []
    for (area, target, run, complete, level), same in groups:
        found = Counter(row["verdict"] for row in same)
        made.append(
            {
                "area": area,
                "target": target,
                "level": level,
                "run": run,
                "run_complete": complete,
                "verdict": worst(found),
                "requirements": len(same),
                **{verdict: found[verdict] for verdict in RANKS},
            }
        )
    return sorted(made, key=by("area", "target", "level"))
