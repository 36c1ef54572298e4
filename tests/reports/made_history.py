"""Small histories for tests: a word a requirement, a letter a release."""

from __future__ import annotations

from collections.abc import Mapping

from reports.archaeology.given import Given, KnownBug, Promise, TargetPlace
from reports.archaeology.history import Archaeology, archaeology
from reports.archaeology.observe import ObservedRows

VERDICTS = {
    "P": "passed",
    "p": "passed",  # with a reason: a MAY that goes the other way
    "F": "failed",
    "W": "warning",
    "N": "not_supported",
    "I": "inconclusive",
    "A": "not_applicable",
    "H": "harness_error",
}
RELEASES = ("2.2.2", "2.3.1", "2.4.1", "2.5.1", "3.9.2", "4.0.2")
TARGETS = tuple(f"kafka:{release}" for release in RELEASES)


def promise(
    since: str = "2.4", until: str | None = None, note: str | None = None, level: str = "MUST"
) -> Promise:
    def holds_in(release: str) -> bool:
        return since[:3] <= release[:3] and (until is None or release[0] <= until[0])

    return Promise("PROD", level, "The broker keeps <it>.", since, until, note, (), holds_in)


def place_of(target: str) -> TargetPlace | None:
    """kafka:RELEASE or kafka:RELEASE,mode=kraft."""
    name, _, mode = target.removeprefix("kafka:").partition(",mode=")
    return TargetPlace(name, mode or "zk") if target.startswith("kafka:") else None


def run(target: str, **values: object) -> dict[str, object]:
    said = {"target": target, "run": f"r-{target[6:]}", "counts": True, "run_complete": True}
    return {**said, "suite_version": "0.1.0", "catalogue_version": "2026.1", **values}


def history_of(
    seen: Mapping[str, str],
    promises: Mapping[str, Promise],
    *,
    targets: tuple[str, ...] = TARGETS,
    bugs: Mapping[str, Mapping[str, KnownBug]] | None = None,
    incomplete: str | None = None,
    empty: tuple[tuple[str, str], ...] = (),
) -> Archaeology:
    """`seen` by requirement: a letter of `VERDICTS` for each target, a space for no check."""
    places = {target: place for target in targets if (place := place_of(target))}
    cells = [
        {
            "requirement": name,
            "release": places[target].release,
            "mode": places[target].mode,
            "area": "PROD",
            "level": "MUST",
            "verdict": VERDICTS[letter],
            "checks": 1,
            "reasons": [] if letter == "P" else [f"why {letter} <b>"],
        }
        for name, letters in seen.items()
        for target, letter in zip(targets, letters, strict=True)
        if letter != " "
    ]
    runs = [run(target, run_complete=target != incomplete) for target in targets]
    given = Given(promises, place_of, lambda target: (bugs or {}).get(target, {}))
    return archaeology(ObservedRows(cells, runs, places, empty), given)
