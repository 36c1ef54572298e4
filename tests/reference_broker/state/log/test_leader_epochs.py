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


def test_a_log_without_epochs_knows_none() -> None:
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
def test_an_epoch_ends_where_the_next_one_begins(
    asked: int, answer: tuple[int, int] | None
) -> None:
    assert epochs(*MADE).end_of(asked, END) == answer


def test_the_same_epoch_again_changes_nothing_unless_it_begins_earlier() -> None:
    made = epochs((1, 0), (2, 5), (2, 9))
    assert made.entries == ((1, 0), (2, 5))
    made.assign(LeaderEpoch(2), Offset(3))
    assert made.entries == ((1, 0), (2, 3))


def test_an_epoch_without_a_record_gives_way_to_the_next_one() -> None:
    assert epochs((1, 0), (2, 5), (3, 5)).entries == ((1, 0), (3, 5))


def test_an_older_epoch_makes_later_ones_untrue() -> None:
    assert epochs((1, 0), (3, 5), (4, 8), (2, 6)).entries == ((1, 0), (2, 6))
    assert epochs((1, 0), (3, 5), (4, 8), (5, 3)).entries == ((1, 0), (5, 3))


@pytest.mark.parametrize(
    ("end", "left"),
    [(30, 3), (21, 3), (20, 2), (11, 2), (10, 1), (5, 0), (0, 0)],
)
def test_a_log_that_ends_earlier_forgets_epochs_that_begin_there(end: int, left: int) -> None:
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
def test_a_log_that_starts_later_knows_in_which_epoch(
    start: int, left: tuple[tuple[int, int], ...]
) -> None:
    made = epochs(*MADE)
    made.truncate_below(Offset(start))
    assert made.entries == left


@pytest.mark.parametrize(("offset", "epoch"), [(4, None), (5, 2), (9, 2), (10, 4), (99, 7)])
def test_each_offset_was_written_in_an_epoch(offset: int, epoch: int | None) -> None:
    assert epochs(*MADE).epoch_at(Offset(offset)) == epoch
