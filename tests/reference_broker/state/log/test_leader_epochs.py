"""First and end offsets of leader epochs (class LeaderEpochFileCache; KIP-101, KIP-279)."""

import pytest

from harness.base.ids import LeaderEpoch, Offset
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs

END = Offset(30)


def epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    made = LeaderEpochs()
    for epoch, start in entries:
        made.assign(LeaderEpoch(epoch), Offset(start))
    return made


MADE = ((2, 5), (4, 10), (7, 20))


def test_empty_leader_epochs_return_none() -> None:
    empty = epochs()
    assert empty.latest is None
    assert empty.end_of(0, END) is None
    assert empty.epoch_at(Offset(0)) is None


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (7, (7, 30)),
        (4, (4, 20)),
        (2, (2, 10)),
        (3, (2, 10)),
        (6, (4, 20)),
        (1, (1, 5)),
        (8, None),
        (-1, None),
    ],
    ids=["latest", "older", "first", "between", "between later", "before all", "to come", "none"],
)
def test_epoch_end_offset_is_start_of_next_epoch(
    asked: int, answer: tuple[int, int] | None
) -> None:
    assert epochs(*MADE).end_of(asked, END) == answer


def test_repeated_epoch_changes_entry_only_if_it_starts_earlier() -> None:
    made = epochs((1, 0), (2, 5), (2, 9))
    assert made.entries == ((1, 0), (2, 5))
    made.assign(LeaderEpoch(2), Offset(3))
    assert made.entries == ((1, 0), (2, 3))


def test_epoch_without_records_is_replaced_by_next_epoch() -> None:
    assert epochs((1, 0), (2, 5), (3, 5)).entries == ((1, 0), (3, 5))


def test_assigned_older_epoch_removes_later_entries() -> None:
    assert epochs((1, 0), (3, 5), (4, 8), (2, 6)).entries == ((1, 0), (2, 6))
    assert epochs((1, 0), (3, 5), (4, 8), (5, 3)).entries == ((1, 0), (5, 3))


@pytest.mark.parametrize(
    ("end", "left"),
    [(30, 3), (21, 3), (20, 2), (11, 2), (10, 1), (5, 0), (0, 0)],
)
def test_truncate_from_removes_epochs_at_or_after_end_offset(end: int, left: int) -> None:
    made = epochs(*MADE)
    made.truncate_from(Offset(end))
    assert made.entries == MADE[:left]


@pytest.mark.parametrize(
    ("start", "left"),
    [
        (3, MADE),
        (5, MADE),
        (7, ((2, 7), *MADE[1:])),
        (10, MADE[1:]),
        (15, ((4, 15), MADE[2])),
        (25, ((7, 25),)),
    ],
)
def test_truncate_below_moves_start_of_first_epoch(
    start: int, left: tuple[tuple[int, int], ...]
) -> None:
    made = epochs(*MADE)
    made.truncate_below(Offset(start))
    assert made.entries == left


@pytest.mark.parametrize(("offset", "epoch"), [(4, None), (5, 2), (9, 2), (10, 4), (99, 7)])
def test_epoch_at_returns_epoch_of_offset(offset: int, epoch: int | None) -> None:
    assert epochs(*MADE).epoch_at(Offset(offset)) == epoch
