"""The table of API versions: declared, decodable, behaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..verdicts import RANKS, worst
from .rows import Row, by, grouped, of_runs

Place = tuple[str, int, int]
"""Target, API key, version."""


def api_versions(
    checks: Iterable[Row],
    advertised: Iterable[Row],
    counts: Collection[tuple[str, str]],
    decoding: Collection[str],
    names: Mapping[int, str],
) -> list[Row]:
    """One row a target and version that is offered, or where a check went wrong.

    `advertised`: the rows of the view of that name; `decoding`: requirements that decode answers.
    """
    offered = _offered(of_runs(advertised, counts))
    judged = _judged(of_runs(checks, counts))
    wrong = {place for place, said in judged.items() if _went_wrong(said)}
    made = [
        {
            "api_key": key,
            "api_name": names.get(key, f"API {key}"),
            "api_version": version,
            "target": target,
            **_offer(offered.get((target, key, version))),
            **_verdicts(judged.get((target, key, version), {}), decoding),
        }
        for target, key, version in offered.keys() | wrong
    ]
    return sorted(made, key=by("api_key", "api_version", "target"))


def _offered(advertised: Iterable[Row]) -> dict[Place, bool]:
    """By version in an advertised range: was it observed alone. A range may hold no version."""
    return {
        (row["target"], row["api_key"], version): row["observed"]
        for row in advertised
        for version in range(row["lowest"], row["highest"] + 1)
    }


def _judged(checks: Iterable[Row]) -> dict[Place, dict[str, str]]:
    """By version: requirement to its worst verdict there."""
    found: dict[Place, dict[str, str]] = {}
    about = [row for row in checks if row["api_key"] is not None and row["api_version"] is not None]
    for (*place, name), same in grouped(
        about, "target", "api_key", "api_version", "requirement"
    ).items():
        target, key, version = place
        said = found.setdefault((target, key, version), {})
        said[name] = worst(row["verdict"] for row in same)
    return found


def _went_wrong(said: Mapping[str, str]) -> bool:
    return RANKS[worst(said.values())] < RANKS["passed"]


def _offer(observed: bool | None) -> dict[str, Any]:
    return {"declared": observed is False, "observed": observed is True}


def _verdicts(said: Mapping[str, str], decoding: Collection[str]) -> dict[str, Any]:
    decodes = [verdict for name, verdict in said.items() if name in decoding]
    behaves = [verdict for name, verdict in said.items() if name not in decoding]
    order = sorted(said.items(), key=lambda one: (RANKS[one[1]], one[0]))
    return {
        "decodable": worst(decodes) if decodes else None,
        "behaves": worst(behaves) if behaves else None,
        "requirements": [{"requirement": name, "verdict": verdict} for name, verdict in order],
    }
