"""Our codec and the official classes agree on everything that any of these releases has."""

from __future__ import annotations

import pytest

from harness.codec.messages import message_class, message_names, older_releases
from harness.codec.structs import Message
from harness.targets.java import JavaError
from harness.targets.pinned_file import DownloadError
from labs.official_classes.counts import Count
from labs.official_classes.crosscheck import Counts, crosscheck
from labs.official_classes.maven import MavenError
from labs.official_classes.official import RELEASES
from labs.official_classes.older import OLDER
from tests.targets.kinds import not_run

EACH = 20
# Layouts of each kind: (message, version) pairs, kinds of batches, damages.
WHOLE = {
    "3.9.2": {
        "messages": 646,
        "headers": 5,
        "data": 100,
        "requests": 323,
        "record batches": 59,
        "control batches": 7,
        "compacted batches": 59,
        "up-conversions": 119,
        "down-conversions": 86,
        "damaged batches": 133,
    },
    "4.4.0": {
        "messages": 618,
        "headers": 4,
        "data": 133,
        "requests": 309,
        "record batches": 59,
        "control batches": 7,
        "compacted batches": 59,
        "up-conversions": 119,
        "damaged batches": 133,
    },
}
ONLY_OLDER = {  # layouts that the newest release does not have: requests and responses, data
    "2.6.3": (11, 0),
    "2.7.2": (25, 1),
    "2.8.2": (12, 15),
    "3.1.2": (12, 7),
    "3.2.3": (12, 5),
    "3.3.2": (12, 0),
    "3.4.1": (9, 6),
    "3.5.2": (11, 24),
    "3.6.0": (11, 0),
    "3.7.2": (1, 22),
    "4.0.2": (1, 33),
    "4.1.1": (0, 8),
    "4.2.0": (0, 5),
    "4.3.1": (0, 1),
}
BY_DOCUMENT_ONLY = {
    "JoinGroupRequest@0.8.2",
    "JoinGroupResponse@0.8.2",
}  # no release could speak it
BY_HAND = {  # Kafka has no definition of these, only code
    "ConnectAssignment",
    "ConnectWorkerState",
    "CooperativeStickyAssignorUserData",
    "StickyAssignorUserData",
}


@pytest.mark.kafka
@pytest.mark.deep
def test_codec_and_official_classes_agree_on_values_and_bytes() -> None:
    try:
        found = dict(crosscheck([*RELEASES, *OLDER], EACH, seed=1))
    except (JavaError, DownloadError, MavenError) as problem:
        not_run(str(problem))
        return
    assert [
        line for counts in found.values() for one in counts.values() for line in one.problems
    ] == []
    for release, layouts in WHOLE.items():
        assert _layouts(found[release]) == layouts
    older = {release: _layouts(found[release]) for release in OLDER}
    assert {release: (one["messages"], one["data"]) for release, one in older.items()} == ONLY_OLDER
    _each_was_drawn(found)
    _nothing_is_left_out(found)


def _layouts(counts: Counts) -> dict[str, int]:
    return {kind: len(count.layouts) for kind, count in counts.items()}


def _each_was_drawn(found: dict[str, Counts]) -> None:
    for counts in found.values():
        for kind in ("messages", "headers", "data"):
            assert counts[kind].compared == EACH * len(counts[kind].layouts)
    for release in WHOLE:
        counts = found[release]
        assert counts["messages"].from_json > counts["messages"].compared / 2
        # Built, read as they wrote it, read as we did.
        assert counts["record batches"].compared == 3 * EACH * len(counts["record batches"].layouts)


def _nothing_is_left_out(found: dict[str, Counts]) -> None:
    """Every version of every definition of ours was judged by some release."""
    all_of_them = {
        (key, version)
        for name in message_names()
        for key in (name, *(f"{name}@{release}" for release in older_releases(name)))
        for version in _class_of(key).message_spec.valid
    }
    judged = {pair for counts in found.values() for one in counts.values() for pair in one.layouts}
    left_out = {(key, v) for key, v in all_of_them if (_class_of(key), v) not in judged}
    assert {key for key, _ in left_out} == BY_DOCUMENT_ONLY | BY_HAND


def _class_of(key: str) -> type[Message]:
    name, _, release = key.partition("@")
    return message_class(name, release or None)


def test_count_text_contains_layouts_and_differences() -> None:
    count = Count(compared=2, layouts={1}, problems=["x"])
    assert count.text() == "2 of 1 layouts, 1 differ"
