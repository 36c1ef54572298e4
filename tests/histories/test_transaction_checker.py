"""Each anomaly of transactions in a smallest history, and a history beside it without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.histories.history import ClientAction, ClientOperation
from harness.histories.judgement import HistoryVerdict, Judgement
from harness.histories.transaction_checker import check_transactions
from harness.histories.transaction_mode import TransactionMode
from tests.histories.transaction_histories import (
    FAIL,
    INFO,
    INVOKE,
    OK,
    SerialBroker,
    abort,
    begin,
    commit,
    consumed,
    end,
    finished,
    log,
    offsets,
    polled,
    send,
    sent,
    whole,
)

Story = list[ClientOperation]
A, B = whole("a", (0, "a"), (1, "A")), whole("b", (0, "b"), (1, "B"))
C = whole("c", (0, "c"))
ONE = whole("a", (0, "a"))
ABORTED = [begin("b"), send("b", 0, "b"), abort("b"), abort("b", OK)]
LEFT_OPEN = [begin("b"), send("b", 0, "b")]
REFUSED = whole("b", (0, "b"), outcome=FAIL)
UNKNOWN = whole("b", (0, "b"), (1, "B"), outcome=INFO)


def reading(process: str, reads: str, writes: str) -> Story:
    """A transaction that consumes one record of partition 0 and sends another one there."""
    offset = "ab".index(reads)
    return [begin(process), send(process, 0, writes), consumed(process, 0, offset, reads),
            commit(process), commit(process, OK)]  # fmt: skip


def answering(process: str, writes: str, consumes: str) -> Story:
    """A transaction that sends to partition 1, and consumes a record of partition 0."""
    return [begin(process), send(process, 1, writes), consumed(process, 0, 0, consumes),
            commit(process), commit(process, OK)]  # fmt: skip


def taking(process: str, value: str, *inputs: tuple[int, str]) -> Story:
    """A transaction that consumes these of partition 0, and sends one record to partition 1."""
    reads = [consumed(process, 0, offset, each) for offset, each in inputs]
    return [begin(process), *reads, send(process, 1, value), commit(process), commit(process, OK)]


INPUTS = whole("i", (0, "i"), (0, "j"))
ENDED = [*ONE, *C]
CASES: dict[str, tuple[str, Story, Story]] = {
    "write cycle": ("G0", [*A, *B, *log(p0="ab", p1="BA")], [*A, *B, *log(p0="ab", p1="AB")]),
    "write cycle of three": (
        "G0",
        [*whole("a", (0, "a"), (2, "x")), *whole("b", (0, "b"), (1, "y")),
         *whole("c", (1, "c"), (2, "z")), *log(p0="ab", p1="yc", p2="zx")],
        [*whole("a", (0, "a"), (2, "x")), *whole("b", (0, "b"), (1, "y")),
         *whole("c", (1, "c"), (2, "z")), *log(p0="ab", p1="yc", p2="xz")],
    ),
    "aborted and there": ("G1a", [*ONE, *ABORTED, *log(p0="ab")], [*ONE, *ABORTED, *log(p0="a")]),
    "left open and there": (
        "G1a", [*ONE, *LEFT_OPEN, *log(p0="ab")], [*ONE, *LEFT_OPEN, *log(p0="a")],
    ),
    "refused and there": ("G1a", [*ONE, *REFUSED, *log(p0="ab")], [*ONE, *REFUSED, *log(p0="a")]),
    "aborted and polled": (
        "G1a",
        [*ABORTED, *ONE, polled(0, 0, "b"), *log(p0="-a")],
        [*ABORTED, *ONE, polled(0, 1, "a"), *log(p0="-a")],
    ),
    "an end inside of a transaction": (
        "G1b",
        [*whole("a", (0, "a"), (0, "b")), polled(0, 0, "a"), end(0, 1), *log(p0="ab")],
        [*whole("a", (0, "a"), (0, "b")), polled(0, 0, "a"), polled(0, 1, "b"), end(0, 2),
         *log(p0="ab")],
    ),
    "both read from one another": (
        "G1c",
        [*reading("a", "b", "a"), *reading("b", "a", "b"), *log(p0="ab")],
        [*whole("a", (0, "a")), *reading("b", "a", "b"), *log(p0="ab")],
    ),
    "reads what stands behind its own": (
        "G1c_with_writes",
        [begin("a"), send("a", 1, "x"), *whole("b", (0, "b"), (1, "y")),
         consumed("a", 0, 0, "b"), commit("a"), commit("a", OK), *log(p0="b", p1="xy")],
        [begin("a"), send("a", 1, "x"), *whole("b", (0, "b"), (1, "y")),
         consumed("a", 0, 0, "b"), commit("a"), commit("a", OK), *log(p0="b", p1="yx")],
    ),
    "polled before its commit": (
        "dirty_read",
        [begin("a"), send("a", 0, "a"), polled(0, 0, "a"), commit("a"), commit("a", OK),
         *log(p0="a")],
        [begin("a"), send("a", 0, "a"), commit("a"), polled(0, 0, "a"), commit("a", OK),
         *log(p0="a")],
    ),
    "one of two partitions": ("torn_transaction", [*A, *log(p0="a")], [*A, *log(p0="a", p1="A")]),
    "one of two, unknown": (
        "torn_transaction",
        [*ONE, *UNKNOWN, *log(p0="ab")],
        [*ONE, *UNKNOWN, *log(p0="ab", p1="B")],
    ),
    "committed and gone": ("lost_write", [*ONE, *C, *log(p0="a")], [*ONE, *C, *log(p0="ac")]),
    "unknown and gone": (
        "lost_write", [*ONE, *C, *UNKNOWN, *log(p0="a")], [*ONE, *UNKNOWN, *log(p0="a")],
    ),
    "there twice": ("duplicate", [*ONE, *log(p0="aa")], [*ONE, *log(p0="a")]),
    "one process's in another order": (
        "nonmonotonic_send",
        [*whole("a", (0, "a")), *whole("a", (0, "b")), *log(p0="ba")],
        [*whole("a", (0, "a")), *whole("a", (0, "b")), *log(p0="ab")],
    ),
    "in another order inside of one": (
        "nonmonotonic_send",
        [*whole("a", (0, "a"), (0, "b")), *log(p0="ba")],
        [*whole("a", (0, "a"), (0, "b")), *log(p0="ab")],
    ),
    "acknowledged elsewhere": (
        "inconsistent_offset",
        [begin("a"), send("a", 0, "a"), sent("a", 0, "a", 3), commit("a"), commit("a", OK),
         *log(p0="a")],
        [begin("a"), send("a", 0, "a"), sent("a", 0, "a", 0), commit("a"), commit("a", OK),
         *log(p0="a")],
    ),
    "polled and not there": (
        "inconsistent_offset",
        [*ONE, *UNKNOWN, polled(0, 0, "a"), polled(0, 1, "b"), *log(p0="a")],
        [*ONE, *UNKNOWN, polled(0, 0, "a"), *log(p0="a")],
    ),
    "never sent": ("phantom", [*ONE, *log(p0="ax")], [*ONE, *log(p0="a")]),
    "sent elsewhere": ("phantom", [*ONE, *log(p1="a")], [*ONE, *log(p0="a")]),
    "refused by the broker": (
        "failed_write",
        [begin("a"), send("a", 0, "a"), sent("a", 0, "a", outcome=FAIL), *ONE[2:], *log(p0="a")],
        [begin("a"), send("a", 0, "a"), sent("a", 0, "a", outcome=FAIL), *ONE[2:], *log()],
    ),
    "polled twice": (
        "poll_duplicate",
        [*ONE, polled(0, 0, "a"), polled(0, 0, "a"), *log(p0="a")],
        [*ONE, polled(0, 0, "a"), polled(0, 0, "a", "another"), *log(p0="a")],
    ),
    "polled backwards": (
        "nonmonotonic_poll",
        [*ENDED, polled(0, 1, "c"), polled(0, 0, "a"), *log(p0="ac")],
        [*ENDED, polled(0, 0, "a"), polled(0, 1, "c"), *log(p0="ac")],
    ),
    "passed over": (
        "poll_skip",
        [*ENDED, polled(0, 1, "c"), *log(p0="ac")],
        [*ENDED, polled(0, 0, "a"), *log(p0="ac")],
    ),
    "before the end": (
        "unseen",
        [*ENDED, polled(0, 0, "a"), end(0, 2), *log(p0="ac")],
        [*ENDED, polled(0, 0, "a"), end(0, 1), *log(p0="ac")],
    ),
    "finished without": (
        "unseen",
        [*ENDED, polled(0, 0, "a"), finished(), *log(p0="ac")],
        [*ENDED, polled(0, 0, "a"), finished("another"), *log(p0="ac")],
    ),
    "consumed by two": (
        "consumed_twice",
        [*INPUTS, *taking("a", "x", (0, "i")), *taking("b", "y", (0, "i")), *log(p0="ij", p1="xy")],
        [*INPUTS, *taking("a", "x", (0, "i")), *taking("b", "y", (1, "j")), *log(p0="ij", p1="xy")],
    ),
    "consumed by none": (
        "never_consumed",
        [*INPUTS, *taking("a", "x", (1, "j")), offsets(0, 2), *log(p0="ij", p1="x")],
        [*INPUTS, *taking("a", "x", (0, "i")), offsets(0, 1), *log(p0="ij", p1="x")],
    ),
    "a committed offset goes back": (
        "offsets_back",
        [*ONE, offsets(0, 1), offsets(0, outcome=INVOKE), offsets(0, 0), *log(p0="a")],
        [*ONE, offsets(0, outcome=INVOKE), offsets(0, 1, "b"), offsets(0, 0), *log(p0="a")],
    ),
    "a process does not finish": (
        "stuck",
        [*ONE, polled(0, 0, "a"), finished(outcome=INFO), *log(p0="a")],
        [*ONE, polled(0, 0, "a"), finished(), *log(p0="a")],
    ),
}  # fmt: skip


def shown(judgement: Judgement) -> set[str]:
    """The names of all anomalies, promised to be absent or not."""
    return {str(each.anomaly) for each in (*judgement.findings, *judgement.allowed)}


@pytest.mark.parametrize("case", CASES)
def test_smallest_history_has_its_anomaly_alone(case: str) -> None:
    anomaly, bad, _ = CASES[case]
    assert shown(check_transactions(bad)) == {anomaly}


@pytest.mark.parametrize("case", CASES)
def test_history_beside_it_has_no_anomaly(case: str) -> None:
    _, _, good = CASES[case]
    judgement = check_transactions(good)
    assert (shown(judgement), judgement.why.startswith("the history")) == (set(), False)


def test_end_may_be_where_another_open_transaction_begins() -> None:
    """Of two that interleave one is whole at the end, and its record behind the other's waits."""
    history = [*whole("a", (0, "a"), (0, "b")), *whole("c", (0, "c")), polled(0, 0, "a")]
    begins = check_transactions([*history, end(0, 1), *log(p0="acb")])
    assert (begins.verdict, shown(begins)) == (HistoryVerdict.VALID, {"G0"})
    inside = check_transactions([*history, polled(0, 1, "c"), end(0, 2), *log(p0="acb")])
    assert set(inside.anomalies) == {"G1b"}


def test_every_anomaly_of_transactions_has_a_case() -> None:
    found = {anomaly for anomaly, _, _ in CASES.values()}
    assert found >= {"G0", "G1a", "G1b", "G1c", "G1c_with_writes", "dirty_read",
                     "torn_transaction", "consumed_twice", "never_consumed", "offsets_back",
                     "lost_write", "duplicate", "unseen"}  # fmt: skip


def test_transfers_that_do_not_sum_up_are_unbalanced() -> None:
    amounts = {"a": 5, "A": -5, "b": 1, "B": -1}
    good = check_transactions([*A, *log(p0="a", p1="A")], amount_of=amounts.__getitem__)
    assert good.verdict is HistoryVerdict.VALID
    bad = check_transactions([*A, *B, *log(p0="ab", p1="A")], amount_of=amounts.__getitem__)
    assert shown(bad) == {"unbalanced", "torn_transaction"}


MODES: dict[str, tuple[TransactionMode, Story, bool]] = {
    "an aborted read of read_uncommitted": (
        TransactionMode(read_committed=False),
        [*ABORTED, *ONE, polled(0, 0, "b"), polled(0, 1, "a"), *log(p0="-a")],
        True,
    ),
    "an aborted record in the log": (
        TransactionMode(read_committed=False), [*ONE, *ABORTED, *log(p0="ab")], False,
    ),
    "a dirty read of read_uncommitted": (
        TransactionMode(read_committed=False), CASES["polled before its commit"][1], True,
    ),
    "a lost write of acks=1": (TransactionMode(acks=1), [*ONE, *C, *log(p0="a")], True),
    "a duplicate of acks=1": (TransactionMode(acks=1), [*ONE, *log(p0="aa")], False),
    "a torn transaction by a late request": (
        TransactionMode(transaction_version=1, late_requests=True), [*A, *log(p0="a")], True,
    ),
    "a torn transaction with new epochs": (
        TransactionMode(transaction_version=2, late_requests=True), [*A, *log(p0="a")], False,
    ),
    "a torn transaction without late requests": (
        TransactionMode(transaction_version=1), [*A, *log(p0="a")], False,
    ),
    "a write cycle": (TransactionMode(), CASES["write cycle"][1], True),
    "a circle of reads": (TransactionMode(), CASES["both read from one another"][1], False),
}  # fmt: skip


@pytest.mark.parametrize("case", MODES)
def test_mode_decides_which_anomalies_are_allowed(case: str) -> None:
    mode, history, allowed = MODES[case]
    judgement = check_transactions(history, mode)
    assert (judgement.verdict is HistoryVerdict.VALID) == allowed
    assert bool(judgement.allowed) == allowed


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ([*ONE, *ONE, *log(p0="a")], "'a' was sent twice"),
        ([sent("a", 0, "x"), *log()], "'x' ended and never began"),
        ([commit("a"), *log()], "outside of a transaction"),
        ([abort("a"), *log()], "outside of a transaction"),
        ([consumed("a", 0, 0, "x"), *log()], "outside of a transaction"),
        (ONE, "the log was not read to its end"),
        ([*UNKNOWN, *log()], "nothing was acknowledged"),
        ([], "the log was not read to its end"),
    ],
)
def test_history_that_proves_nothing_is_unknown(history: Story, why: str) -> None:
    judgement = check_transactions(history)
    assert judgement.verdict is HistoryVerdict.UNKNOWN
    assert why in judgement.why


def test_log_that_a_stuck_process_did_not_read_shows_this_alone() -> None:
    history = [*ONE, *C, finished("reader", INFO)]
    assert shown(check_transactions(history)) == {"stuck"}


def test_sends_outside_of_transactions_are_judged_alone() -> None:
    history = [send("a", 0, "a"), sent("a", 0, "a", 0), send("a", 0, "b"), sent("a", 0, "b", 1)]
    assert check_transactions([*history, *log(p0="ab")]).verdict is HistoryVerdict.VALID
    assert shown(check_transactions([*history, *log(p0="a")])) == {"lost_write"}


# -- drawn histories ------------------------------------------------------------------------------

SEEDS = st.integers(0, 10**6)


@settings(max_examples=20)
@given(SEEDS)
def test_serial_history_has_no_anomaly(seed: int) -> None:
    judgement = check_transactions(SerialBroker(seed).play(30))
    assert shown(judgement) == set()


def _last_stored(history: Story, *, sharing: bool) -> int:
    """The place of a stored record of a transaction with others there, or without."""
    owner: dict[str, str] = {}
    name: dict[str, str] = {}
    for one in history:
        if one.action is ClientAction.BEGIN:
            name[one.process] = one.value
        elif one.action is ClientAction.SEND:
            owner[one.value] = name[one.process]
    stored = [at for at, one in enumerate(history) if one.value in owner
              and one.action is ClientAction.FINAL_READ]  # fmt: skip
    count: dict[str, int] = {}
    for at in stored:
        count[owner[history[at].value]] = count.get(owner[history[at].value], 0) + 1
    fit = [at for at in stored if (count[owner[history[at].value]] > 1) == sharing]
    return fit[-1] if fit else -1


def _torn(history: Story) -> Story:
    at = _last_stored(history, sharing=True)
    return [one for one in history if one.value != history[at].value
            or one.action is ClientAction.SEND]  # fmt: skip


def _lost(history: Story) -> Story:
    at = _last_stored(history, sharing=False)
    value = history[at].value
    return [one for one in history if one.value != value or one.action is ClientAction.SEND]


def _doubled(history: Story) -> Story:
    at = _last_stored(history, sharing=True)
    again = replace(history[at], offset=10**6)
    return [*history[:-1], again, history[-1]]


def _visible(history: Story) -> Story:
    aborts = [at for at, one in enumerate(history) if one.action is ClientAction.ABORT]
    by = history[aborts[0]].process
    before = [one for one in history[: aborts[0]] if one.process == by
              and one.action is ClientAction.SEND and one.outcome is OK]  # fmt: skip
    return [*history[:-1], replace(before[-1], action=ClientAction.FINAL_READ), history[-1]]


def _early(history: Story) -> Story:
    """A poll goes to the place directly behind its send."""
    polls = [at for at, one in enumerate(history) if one.action is ClientAction.POLL]
    poll = history[polls[0]]
    rest = history[: polls[0]] + history[polls[0] + 1 :]
    sends = [at for at, one in enumerate(rest) if one.value == poll.value]
    return [*rest[: sends[0] + 1], poll, *rest[sends[0] + 1 :]]


def _back(history: Story) -> Story:
    return [*history, offsets(0, 10**6), offsets(0, outcome=INVOKE), offsets(0, 0)]


PLANTED: dict[str, Callable[[Story], Story]] = {
    "torn_transaction": _torn,
    "lost_write": _lost,
    "duplicate": _doubled,
    "G1a": _visible,
    "dirty_read": _early,
    "offsets_back": _back,
}


@settings(max_examples=20)
@given(seed=SEEDS)
def test_planted_anomaly_is_found_in_a_serial_history(seed: int) -> None:
    history = SerialBroker(seed).play(40)
    for anomaly, plant in PLANTED.items():
        assert anomaly in shown(check_transactions(plant(history))), anomaly
