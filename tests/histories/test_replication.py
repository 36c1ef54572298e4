"""Each promise about replication is found broken where it is, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.histories.replication import (
    METADATA_DELAY_MS,
    Observation,
    Violation,
    check_replication,
)

LEADER, R2, R3, STRANGER = 1, 101, 102, 999
REPLICAS = (LEADER, R2, R3)
ALL = (LEADER, R2, R3)


def told(high_watermark: int, **more: int) -> Observation:
    seen = Observation("a fetch", node=LEADER, high_watermark=high_watermark)
    return replace(seen, **more)  # type: ignore[arg-type]


def end(offset: int) -> Observation:
    return Observation("ListOffsets", node=LEADER, log_end_offset=offset)


def confirms(replica: int, offset: int) -> Observation:
    return Observation("a replica fetches", node=LEADER, replica=replica, confirmed=offset)


def isr(*members: int, leader: int = LEADER, epoch: int = -1) -> Observation:
    return Observation(
        "the state", node=LEADER, leader=leader, leader_epoch=epoch, isr=tuple(members)
    )


SOUND = [
    isr(*ALL, epoch=0),
    end(3),
    told(0, last_stable_offset=0, log_start_offset=0),
    confirms(R2, 3),
    told(0),
    confirms(R3, 3),
    told(3, read_to=3),
    end(5),
    confirms(R2, 5),
    confirms(R3, 1),
    told(3),
    isr(LEADER, R2, epoch=1),
    told(5),
    confirms(R3, 5),
    isr(*ALL, epoch=1),
    told(5),
]


def broken(*seen: Observation) -> list[Violation]:
    return [each.broken for each in check_replication(seen, REPLICAS)]


def test_sound_observations_have_no_finding() -> None:
    assert check_replication(SOUND, REPLICAS) == []


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([told(3), told(2)], Violation.WATERMARK_FELL),
        ([told(4), end(3)], Violation.WATERMARK_ABOVE_END),
        ([end(4), end(3)], Violation.END_FELL),
        ([isr(*ALL), confirms(R2, 3), confirms(R3, 2), told(3)], Violation.WATERMARK_UNCONFIRMED),
        ([isr(*ALL), confirms(R2, 3), told(1)], Violation.WATERMARK_UNCONFIRMED),
        ([told(3, read_to=4)], Violation.READ_ABOVE_WATERMARK),
        ([told(3, last_stable_offset=4)], Violation.STABLE_ABOVE_WATERMARK),
        ([told(3, log_start_offset=4)], Violation.START_ABOVE_WATERMARK),
        ([isr(R2, R3)], Violation.ISR_WITHOUT_LEADER),
        ([isr(*ALL, STRANGER)], Violation.ISR_OF_STRANGERS),
        ([isr(*ALL, epoch=2), isr(*ALL, epoch=1)], Violation.EPOCH_FELL),
        (
            [confirms(R2, 3), confirms(R3, 1), told(3), isr(LEADER, R2), isr(*ALL)],
            Violation.JOINED_EARLY,
        ),
    ],
)
def test_each_violation_is_found(seen: list[Observation], expected: Violation) -> None:
    assert set(broken(*seen)) == {expected}


def test_finding_text_contains_observed_values() -> None:
    (found,) = check_replication([told(3), told(2)], REPLICAS)
    assert str(found) == "a fetch: the high watermark went back: 3, then 2"


def test_isr_change_between_observations_excuses_high_watermark() -> None:
    """It happened at an unknown time between two looks."""
    before, after = isr(*ALL), isr(LEADER, R2)
    steps = [before, confirms(R2, 5), confirms(R3, 1), told(5)]
    assert broken(*steps, after) == []
    assert broken(*steps) == [Violation.WATERMARK_UNCONFIRMED]
    assert broken(*steps, before) == [Violation.WATERMARK_UNCONFIRMED]


def test_isr_shrink_in_late_metadata_excuses_high_watermark_until_limit() -> None:
    """A second look after the first one counts for as long as metadata may take, and no longer."""
    before, after = isr(*ALL), isr(LEADER, R2)
    steps = [before, confirms(R2, 5), confirms(R3, 1), told(5), replace(before, at_ms=100)]
    assert broken(*steps, replace(after, at_ms=METADATA_DELAY_MS)) == []
    late = replace(after, at_ms=METADATA_DELAY_MS + 1)
    assert broken(*steps, late) == [Violation.WATERMARK_UNCONFIRMED]


def test_offsets_of_different_leaders_are_not_compared() -> None:
    assert broken(told(5), end(6), replace(told(3), node=R2), replace(end(4), node=R2)) == []


OFFSETS = st.integers(-1, 6)
ANY = st.builds(
    Observation,
    st.just("anything"),
    node=st.sampled_from([LEADER, R2]),
    leader=st.sampled_from([-1, LEADER, R2]),
    leader_epoch=OFFSETS,
    high_watermark=OFFSETS,
    last_stable_offset=OFFSETS,
    log_start_offset=OFFSETS,
    log_end_offset=OFFSETS,
    isr=st.none() | st.lists(st.sampled_from([*REPLICAS, STRANGER]), unique=True).map(tuple),
    replica=st.sampled_from([-1, R2, R3]),
    confirmed=st.integers(0, 6),
    read_to=OFFSETS,
)


@given(st.lists(ANY, max_size=12))
def test_any_observations_keep_findings_when_more_follow(seen: list[Observation]) -> None:
    """Each finding is one of the observations, and later ones remove no finding but those of the
    ISR.
    """
    later = {Violation.WATERMARK_UNCONFIRMED}
    whole = check_replication(seen, REPLICAS)
    assert all(each.seen in seen for each in whole)
    part = check_replication(seen[:-1], REPLICAS)
    assert {(e.broken, e.detail) for e in part if e.broken not in later} <= {
        (e.broken, e.detail) for e in whole
    }
