"""The releases that promise a requirement, and the result of a check on any other release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.conformance.catalogue import Catalogue, Requirement, load_catalogue
from harness.conformance.dated import (
    by_date,
    release_line,
    release_numbers,
    why_not_promised,
)
from harness.conformance.dated_reason import DatedReason
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict
from tests.conformance.made import check

V = Verdict


def dated(since: str, until: str | None = None) -> Requirement:
    known = load_catalogue().requirement("PROD-011")
    return replace(known, since=since, until=until)


def catalogue_with(requirement: Requirement) -> Catalogue:
    known = load_catalogue()
    return replace(known, requirements={**known.requirements, requirement.id: requirement})


@pytest.mark.parametrize(
    ("since", "release", "promised"),
    [
        ("2.4", "2.3.1", False),
        ("2.4", "2.4.0", True),
        ("2.4", "2.4.1", True),
        ("2.4", "2.10.0", True),  # numbers, not letters
        ("2.4", "3.0.0", True),
        ("2.4", "0.11.0.3", False),
        ("0.8.2", "0.8.1.1", False),
        ("0.8.2", "0.8.2.2", True),
        ("0.10.1", "0.10.0.1", False),
        ("0.10.1", "0.10.1.1", True),
        ("0.10", "0.9.0.1", False),
        ("0.10", "0.10.0.1", True),
        ("0.11", "0.10.2.2", False),
        ("2.x", "1.1.1", False),
        ("2.x", "2.0.1", True),
        ("4.1", "4.0.2", False),
        ("-", "0.8.0", True),
        ("2.4", "2.4.0-SNAPSHOT", True),  # no release: held to all
        ("4.0", "unknown", True),
    ],
)
def test_release_before_since_is_not_promised(since: str, release: str, promised: bool) -> None:
    why = why_not_promised(dated(since), release)
    assert why == (None if promised else f"promised since {since}; this is {release}")


@pytest.mark.parametrize(
    ("until", "release", "promised"),
    [
        ("3.x", "3.9.2", True),
        ("3.x", "4.0.2", False),
        ("2.0", "2.0.1", True),
        ("2.0", "2.1.1", False),
        ("3.6", "3.6.2", True),
        ("3.6", "3.7.2", False),
        ("0.10", "0.10.2.2", True),
        ("0.10", "0.11.0.3", False),
    ],
)
def test_release_after_until_is_not_promised(until: str, release: str, promised: bool) -> None:
    why = why_not_promised(dated("0.8", until), release)
    assert why == (None if promised else f"promised until {until}; this is {release}")


@pytest.mark.parametrize(
    ("release", "promised"),
    [("3.9.2", True), ("4.0.0", False), ("4.0.1", True), ("4.0.0-SNAPSHOT", True)],
)
def test_release_that_is_left_out_is_not_promised(release: str, promised: bool) -> None:
    requirement = replace(dated("0.10"), not_in=("4.0.0",))
    why = why_not_promised(requirement, release)
    assert why == (None if promised else "promised since 0.10, not in 4.0.0; this is 4.0.0")


@pytest.mark.parametrize(
    ("since", "until", "release", "promised"),
    [
        ("4.0.1", None, "4.0.0", False),
        ("4.0.1", None, "4.0.1", True),
        ("4.0.1", None, "4.1.0", True),
        ("0.8", "4.0.0", "4.0.0", True),
        ("0.8", "4.0.0", "4.0.1", False),
    ],
)
def test_dates_may_name_patch_releases(
    since: str, until: str | None, release: str, promised: bool
) -> None:
    assert (why_not_promised(dated(since, until), release) is None) is promised


def test_reason_is_read_as_it_was_written() -> None:
    for left in (
        DatedReason("since", "2.4"),
        DatedReason("until", "3.x"),
        DatedReason("since", "0.10", left_out="4.0.0"),
    ):
        assert DatedReason.read(f"{left.text('4.0.0')}: since 3.9; x") == left
    assert DatedReason.read("Fetch v3: advertised is 4 to 18") is None
    assert DatedReason.read("since 2.4; this is 2.3.1") is None


def test_release_and_release_line_parse_to_numbers() -> None:
    assert release_numbers("0.10.0.1") == (0, 10, 0, 1)
    assert [release_numbers(word) for word in ("4", "4.x", "", "4.4.0-rc1", "v4.4.0")] == [None] * 5
    assert release_line("3.x") == (3,)
    assert release_line("0.10.1") == (0, 10, 1)


def judged(
    records: Sequence[CheckRecord],
    *,
    implementation: str = "Apache Kafka",
    release: str = "2.3.1",
    newer: str = "",
    undecided: bool = False,
    until: str | None = None,
) -> list[tuple[Verdict, str]]:
    found = by_date(
        records,
        implementation=implementation,
        release=release,
        newer=newer,
        catalogue=catalogue_with(dated("2.4", until)),
        undecided=undecided,
    )
    return [(record.verdict, record.reason) for record in found]


def test_failure_before_since_is_not_supported_and_keeps_reason() -> None:
    seen = check("PROD-011", V.FAILED, reason="error code 2, not 87")
    wanted = "promised since 2.4; this is 2.3.1: error code 2, not 87"
    assert judged([seen]) == [(V.NOT_SUPPORTED, wanted)]
    assert judged([seen], release="2.4.0") == [(V.FAILED, "error code 2, not 87")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (V.FAILED, V.NOT_SUPPORTED),
        (V.WARNING, V.NOT_SUPPORTED),
        (V.INCONCLUSIVE, V.NOT_SUPPORTED),
        (V.PASSED, V.PASSED),
        (V.HARNESS_ERROR, V.HARNESS_ERROR),
        (V.NOT_APPLICABLE, V.NOT_APPLICABLE),
    ],
)
def test_release_before_since_turns_only_unmet_verdicts_to_not_supported(
    before: Verdict, after: Verdict
) -> None:
    record = check("PROD-011", before, reason="seen")
    ((verdict, reason),) = judged([record])
    assert verdict is after
    assert reason == ("promised since 2.4; this is 2.3.1: seen" if before is not after else "seen")


def test_check_already_not_supported_keeps_its_reason() -> None:
    record = check("PROD-011", V.NOT_SUPPORTED, reason="Produce v9: advertised is 0 to 7")
    assert judged([record]) == [(V.NOT_SUPPORTED, "Produce v9: advertised is 0 to 7")]


def test_undecided_test_keeps_inconclusive_checks() -> None:
    records = [check("PROD-011", V.INCONCLUSIVE, reason="?"), check("PROD-011", V.FAILED)]
    assert [verdict for verdict, _ in judged(records, undecided=True)] == [
        V.INCONCLUSIVE,
        V.NOT_SUPPORTED,
    ]


@pytest.mark.parametrize(
    ("implementation", "release"),
    [("kfake", "2.3.1"), ("external", "unknown"), ("Apache Kafka", "trunk")],
)
def test_other_implementations_and_unknown_releases_get_no_date_excuse(
    implementation: str, release: str
) -> None:
    record = check("PROD-011", V.FAILED, reason="seen")
    found = judged([record], implementation=implementation, release=release)
    assert found == [(V.FAILED, "seen")]


def test_requirements_of_one_case_are_dated_separately() -> None:
    records = [check("PROD-011", V.FAILED, reason="a"), check("CONN-001", V.FAILED, reason="b")]
    assert [verdict for verdict, _ in judged(records)] == [V.NOT_SUPPORTED, V.FAILED]


def test_cluster_of_two_releases_must_keep_what_both_must() -> None:
    seen = check("PROD-011", V.FAILED, reason="seen")
    assert judged([seen], release="2.8.2", newer="3.9.2") == [(V.FAILED, "seen")]
    until = [(V.NOT_SUPPORTED, "promised until 3.8; this is 3.9.2: seen")]
    assert judged([seen], release="2.8.2", newer="3.9.2", until="3.8") == until
    since = [(V.NOT_SUPPORTED, "promised since 2.4; this is 2.3.1: seen")]
    assert judged([seen], release="2.3.1", newer="3.9.2") == since
