"""The list of reviewed differences: an unlisted one and a stale one are both seen."""

from __future__ import annotations

import pytest

from harness.codec.drift.compare import DriftDifference
from harness.codec.drift.errors import DriftError
from harness.codec.drift.reviewed import Review, Reviewed, read_reviewed, review, reviewed_drift
from harness.codec.messages import message_names
from harness.codec.releases import ReleaseRange, release_numbers

LISTED = """
[[reviewed]]
releases = "2.4-3.9"
reason = "was called otherwise (KIP-1)"
differences = [["FetchRequest", "3+", "topics.topic", "name", "topic", "name"]]

[[reviewed]]
releases = "4.0+"
reason = "went away (KIP-2)"
differences = [["FetchRequest", "0-3", "", "version", "there", "absent"]]
"""
RENAMED = DriftDifference("FetchRequest", "topics.topic", "name", "topic", "name", (3, 4, 5))
GONE = DriftDifference("FetchRequest", "", "version", "there", "absent", (0, 1, 2, 3))
SHARED = {"FetchRequest": frozenset(range(6))}


def _review(release: str, *found: DriftDifference) -> Review:
    return review(found, release_numbers(release), SHARED, read_reviewed(LISTED))


def test_listed_difference_is_returned_as_reviewed() -> None:
    for release in ("2.4.0", "2.4", "3.0.2", "3.9.2"):
        found = _review(release, RENAMED)
        assert found.as_reviewed == ((RENAMED, "was called otherwise (KIP-1)"),)
        assert (found.unlisted, found.stale) == ((), ())
    assert _review("4.4.0", GONE).as_reviewed == ((GONE, "went away (KIP-2)"),)


def test_difference_listed_for_other_release_is_unlisted() -> None:
    for release in ("2.3.1", "4.0.0"):
        assert _review(release, RENAMED).unlisted == (RENAMED,)
    assert _review("3.9.2", RENAMED, GONE).unlisted == (GONE,)


@pytest.mark.parametrize(
    "other",
    [
        DriftDifference("FetchRequest", "topics.topic", "name", "topic", "title", (3, 4, 5)),
        DriftDifference("FetchRequest", "topics.topic", "type", "topic", "name", (3, 4, 5)),
        DriftDifference("FetchRequest", "topics", "name", "topic", "name", (3, 4, 5)),
        DriftDifference("FetchResponse", "topics.topic", "name", "topic", "name", (3, 4, 5)),
    ],
)
def test_entry_covers_one_difference_at_one_field(other: DriftDifference) -> None:
    found = _review("3.0.0", other)
    assert found.unlisted == (other,)
    assert found.stale == ((RENAMED, "2.4-3.9"),)


def test_other_versions_than_listed_are_stale_or_unlisted() -> None:
    fewer = DriftDifference(*_key(RENAMED), (3, 5))
    found = _review("3.0.0", fewer)
    assert found.stale == ((DriftDifference(*_key(RENAMED), (4,)), "2.4-3.9"),)
    more = DriftDifference(*_key(RENAMED), (2, 3, 4, 5))
    found = _review("3.0.0", more)
    assert found.unlisted == (DriftDifference(*_key(RENAMED), (2,)),)
    assert found.stale == ()


def test_entry_without_matching_version_is_stale() -> None:
    entries = read_reviewed(LISTED)
    found = review([], (3, 0), {"FetchRequest": frozenset({0, 1})}, entries)
    assert found.stale == ((DriftDifference(*_key(RENAMED), ()), "2.4-3.9"),)


def test_entries_of_message_that_is_not_compared_are_not_stale() -> None:
    found = review([], (3, 0), {}, read_reviewed(LISTED))
    assert found == Review((), (), ())


def _key(one: DriftDifference) -> tuple[str, str, str, str, str]:
    return (one.message, one.place, one.what, one.ours, one.theirs)


TWICE = '["FetchRequest", "3", "topics.topic", "name", "topic", "name"], ["FetchRequest", "3+"'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.4-3.9", "3.9-2.4"),
        ("2.4-3.9", "old"),
        ('"3+"', '"three"'),
        ('"3+", ', ""),
        ('"3+"', "3"),
        ("[[reviewed]]", "[[reviewed"),
        ("reason", "because"),
        ('["FetchRequest", "3+"', TWICE),
    ],
)
def test_malformed_review_list_raises_drift_error(old: str, new: str) -> None:
    with pytest.raises(DriftError, match=r"reviewed_drift\.toml"):
        read_reviewed(LISTED.replace(old, new, 1))


def test_reviewed_entries_name_known_messages_and_have_reasons() -> None:
    entries = reviewed_drift()
    assert len(entries) > 400
    assert {entry.key[0] for entry in entries} <= set(message_names())
    assert all(len(entry.reason) > 10 for entry in entries)
    assert all(_fits(entry) for entry in entries)


def _fits(entry: Reviewed) -> bool:
    """No release has definitions before 2.2."""
    return entry.releases.first >= (2, 2)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("2.7", ["2.7", "2.7.0", "2.7.12"], ["2.6.3", "2.8.0", "3.0"]),
        ("3.6.0", ["3.6.0"], ["3.6.1", "3.5.9", "3.6"]),
        ("2.4-3.3.1", ["2.4.0", "3.0.2", "3.3.1"], ["2.3.1", "3.3.2"]),
        ("2.8-3.9", ["2.8.0", "3.9.2"], ["2.7.2", "3.10.0", "4.0.0"]),
        ("4.0+", ["4.0.0", "4.10.1", "11.0"], ["3.9.2"]),
    ],
)
def test_release_range_contains_its_releases(
    text: str, inside: list[str], outside: list[str]
) -> None:
    found = ReleaseRange.parse(text)
    assert str(found) == text
    assert [release for release in inside if release_numbers(release) not in found] == []
    assert [release for release in outside if release_numbers(release) in found] == []


def test_overlapping_release_ranges_are_found() -> None:
    ranges = [ReleaseRange.parse(text) for text in ("2.4-3.3.1", "3.3.2-3.9", "3.3", "4.0+")]
    overlapping = [(str(a), str(b)) for a in ranges for b in ranges if a.overlaps(b) and a != b]
    assert overlapping == [
        ("2.4-3.3.1", "3.3"),
        ("3.3.2-3.9", "3.3"),
        ("3.3", "2.4-3.3.1"),
        ("3.3", "3.3.2-3.9"),
    ]


@pytest.mark.parametrize("text", ["", "x", "3.", "3.9-", "-3", "4.0-3.9", "3.9-SNAPSHOT", "²"])
def test_malformed_release_range_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a r"):
        ReleaseRange.parse(text)
