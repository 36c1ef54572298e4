"""States, points of change, and what they say of the catalogue's dates."""

from __future__ import annotations

import pytest

from reports.archaeology.given import KnownBug, Promise
from reports.archaeology.history import Archaeology, DateAgreement, RequirementHistory, State
from reports.archaeology.ranges import contradictions, of_state

from .made_history import RELEASES, history_of, promise


def one(seen: str, given: Promise, **values: object) -> tuple[RequirementHistory, Archaeology]:
    found = history_of({"PROD-001": seen}, {"PROD-001": given}, **values)  # type: ignore[arg-type]
    return found.rows[0], found


def changes(row: RequirementHistory, found: Archaeology) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            found.columns[change.before].name,
            found.columns[change.after].name,
            change.was.value,
            change.now.value,
            change.agreement.value,
        )
        for change in row.changes
    ]


@pytest.mark.parametrize(
    ("seen", "given", "agreement", "wrong"),
    [
        ("NNPPPP", promise(), "agrees", []),
        ("NNPPPN", promise(until="3.x"), "agrees", []),
        ("NNPPPP", promise(until="3.x"), "contradicts", [("holds outside", "4.0.2")]),
        ("NPPPPP", promise(), "contradicts", [("holds outside", "2.3.1")]),
        ("NNNPPP", promise(), "contradicts", [("is not there", "2.4.1")]),
        ("NNPFPP", promise(), "contradicts", [("does not hold", "2.5.1")]),
        ("NNPWWP", promise(level="SHOULD"), "contradicts", [("does not hold", "2.5.1..3.9.2")]),
        ("PNFPPP", promise(), "contradicts",
         [("holds outside", "2.2.2"), ("does not hold", "2.4.1")]),
        ("NNNPPP", promise(note="2.4 / v5"), "noted", []),
        ("NNIPPP", promise(), "agrees", []),
        ("NN PPP", promise(), "agrees", []),
        ("IAH   ", promise(), "unknown", []),
        ("PPFPPN", promise(since="-"), "unknown", []),
    ],
)  # fmt: skip
def test_observed_states_are_compared_with_dates(
    seen: str, given: Promise, agreement: str, wrong: list[tuple[str, str]]
) -> None:
    row, found = one(seen, given)
    assert row.agreement.value == agreement
    said = [(what, where) for what, where, _ in contradictions(row, found.columns)]
    assert [where for _, where in said] == [where for _, where in wrong]
    assert all(what.startswith(begin) for (what, _), (begin, _) in zip(said, wrong, strict=True))


@pytest.mark.parametrize(
    ("seen", "given", "wanted"),
    [
        ("NNPPPP", promise(), [("2.3.1", "2.4.1", "absent", "holds", "agrees")]),
        ("NI PPP", promise(), [("2.2.2", "2.5.1", "absent", "holds", "agrees")]),
        ("NPPPPP", promise(), [("2.2.2", "2.3.1", "absent", "holds", "contradicts")]),
        ("PPPPPP", promise(), []),  # holds before its date, and never changes
        ("NNPFPP", promise(), [("2.3.1", "2.4.1", "absent", "holds", "agrees"),
                               ("2.4.1", "2.5.1", "holds", "broken", "contradicts"),
                               ("2.5.1", "3.9.2", "broken", "holds", "contradicts")]),
        ("NNPPPN", promise(until="3.x"), [("2.3.1", "2.4.1", "absent", "holds", "agrees"),
                                          ("3.9.2", "4.0.2", "holds", "absent", "agrees")]),
        ("NNPPPP", promise(since="-"), [("2.3.1", "2.4.1", "absent", "holds", "unknown")]),
    ],
)  # fmt: skip
def test_changes_between_releases_have_states_and_agreement(
    seen: str, given: Promise, wanted: list[tuple[str, str, str, str, str]]
) -> None:
    assert changes(*one(seen, given)) == wanted


def test_known_bug_explains_only_failures() -> None:
    bug = KnownBug("forgets it", "https://example.org/KAFKA-1")
    bugs = {"kafka:2.5.1": {"PROD-001": bug}, "kafka:2.3.1": {"PROD-001": bug}}
    row, _ = one("NNPFPP", promise(), bugs=bugs)
    assert row.agreement is DateAgreement.KNOWN_BUG
    assert [cell.bug for cell in row.cells] == [None, None, None, bug, None, None]
    row, _ = one("NPPPPP", promise(), bugs=bugs)
    assert row.agreement is DateAgreement.CONTRADICTS


def test_unmet_may_requirement_is_open_and_contradicts_nothing() -> None:
    row, _ = one("NNPppP", promise(level="MAY"))
    assert [cell.state for cell in row.cells][2:] == [
        State.HOLDS, State.OPEN, State.OPEN, State.HOLDS,
    ]  # fmt: skip
    assert row.agreement is DateAgreement.AGREES
    row, _ = one("pppppp", promise(level="MAY"))
    assert row.agreement is DateAgreement.UNKNOWN


def test_columns_are_sorted_by_release_and_mode() -> None:
    targets = ("kafka:0.10.0.1", "kafka:0.9.0.1", "kafka:2.8.2,mode=kraft", "kafka:2.8.2",
               "kafka:2.8.2,mode=kraft", "kafka:3.9.2,mode=kraft", "reference")  # fmt: skip
    found = history_of({}, {}, targets=targets)
    names = [column.name for column in found.columns]
    assert names == ["0.9.0.1", "0.10.0.1", "2.8.2/zk", "2.8.2/kraft", "3.9.2"]


def test_changes_compare_releases_of_same_mode_if_possible() -> None:
    targets = ("kafka:2.7.2", "kafka:2.8.2", "kafka:2.8.2,mode=kraft", "kafka:3.0.2,mode=kraft")
    row, found = one("PPNP", promise(since="2.0"), targets=targets)
    assert [change[:4] for change in changes(row, found)] == [
        ("2.7.2", "2.8.2/kraft", "holds", "absent"),
        ("2.8.2/kraft", "3.0.2", "absent", "holds"),
    ]
    assert of_state(row, found.columns, State.HOLDS) == "2.7.2 2.8.2/zk 3.0.2"


def test_incomplete_and_empty_runs_are_listed() -> None:
    found = history_of(
        {"PROD-001": "NNPPPP"},
        {"PROD-001": promise()},
        incomplete="kafka:2.5.1",
        empty=(("r-x", "kafka:2.6.3"),),
    )
    assert found.incomplete == (
        "run r-2.5.1 of kafka:2.5.1 did not come to its end",
        "run r-x of kafka:2.6.3 ended before its first check",
    )
    assert [column.complete for column in found.columns] == [True, True, True, False, True, True]


def test_requirement_outside_catalogue_has_unknown_agreement() -> None:
    found = history_of({"OLD-001": "NNPPPP", "PROD-001": "NNPPPP"}, {"PROD-001": promise()})
    assert [row.id for row in found.rows] == ["PROD-001", "OLD-001"]
    assert found.rows[1].agreement is DateAgreement.UNKNOWN
    assert len(found.columns) == len(RELEASES)


def test_requirement_applicable_to_no_release_has_no_row() -> None:
    seen = {"PROD-001": "AAAAAA", "PROD-002": "AAPPPP"}
    found = history_of(seen, dict.fromkeys(seen, promise()))
    assert [row.id for row in found.rows] == ["PROD-002"]
