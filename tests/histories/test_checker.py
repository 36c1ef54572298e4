"""The checker on histories made by hand: what it must find, and what it must let pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.histories.checker import check
from harness.histories.history import (
    BadHistory,
    ClientAction,
    ClientOperation,
    OperationOutcome,
    from_lines,
    to_lines,
)
from harness.histories.judgement import SHOWN, Anomaly, HistoryVerdict

P, C, R = "producer", "consumer", "reader"


def send(
    value: str, outcome: OperationOutcome = OperationOutcome.INVOKE, offset: int = -1
) -> ClientOperation:
    return ClientOperation(P, outcome, ClientAction.SEND, 0, offset, value)


def polled(value: str, offset: int) -> ClientOperation:
    return ClientOperation(C, OperationOutcome.OK, ClientAction.POLL, 0, offset, value)


def stored(value: str, offset: int, partition: int = 0) -> ClientOperation:
    return ClientOperation(
        R, OperationOutcome.OK, ClientAction.FINAL_READ, partition, offset, value
    )


def end(offset: int) -> ClientOperation:
    return ClientOperation(C, OperationOutcome.OK, ClientAction.END, 0, offset)


def finished(process: str, outcome: OperationOutcome = OperationOutcome.OK) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.FINISH)


READ = ClientOperation(R, OperationOutcome.OK, ClientAction.FINAL_READ)


def story(
    log: str,
    polls: str | None = None,
    acknowledged: str = "abc",
    *,
    failed: str = "",
    unknown: str = "",
) -> list[ClientOperation]:
    """a, b and c are sent in this order; ``log`` is what stands there, ``polls`` what was given.

    In both a letter stands at the offset that is its position; ``-`` is a record that is not there.
    The polls of ``polls`` come in the order of the log, unless they are made otherwise.
    """
    sent = sorted({*acknowledged, *failed, *unknown})
    history = [send(value) for value in sent]
    history += [send(value, OperationOutcome.OK) for value in acknowledged]
    history += [send(value, OperationOutcome.FAIL) for value in failed]
    history += [send(value, OperationOutcome.INFO) for value in unknown]
    given = log if polls is None else polls
    history += [polled(value, offset) for offset, value in enumerate(given) if value != "-"]
    history += [end(len(log)), finished(P), finished(C)]
    history += [stored(value, offset) for offset, value in enumerate(log) if value != "-"]
    return [*history, READ]


def anomalies(history: list[ClientOperation]) -> dict[str, int]:
    judgement = check(history)
    assert (judgement.verdict is HistoryVerdict.INVALID) == bool(judgement.findings)
    return {str(name): count for name, count in judgement.anomalies.items()}


def test_history_without_anomaly_is_valid() -> None:
    assert check(story("abc")).verdict is HistoryVerdict.VALID


def test_gaps_between_offsets_are_valid() -> None:
    assert check(story("a--b-c")).verdict is HistoryVerdict.VALID


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ("ab", {"lost_write": 1}),
        ("a", {"lost_write": 2}),
        ("abcb", {"duplicate": 1}),
        ("aabbcc", {"duplicate": 3}),
        ("bac", {"nonmonotonic_send": 1}),
        ("cab", {"nonmonotonic_send": 1}),
    ],
)
def test_log_anomalies_are_found_and_counted(log: str, found: dict[str, int]) -> None:
    assert anomalies(story(log)) == found


@pytest.mark.parametrize("log", ["ab", "abc", "cab", "acb"])
def test_record_of_unknown_send_may_be_absent_or_at_any_offset(log: str) -> None:
    assert check(story(log, acknowledged="ab", unknown="c")).verdict is HistoryVerdict.VALID


def test_record_of_unknown_send_stored_twice_is_duplicate() -> None:
    assert anomalies(story("abcc", acknowledged="ab", unknown="c")) == {"duplicate": 1}


def test_send_without_end_is_unanswered_only_after_producer_finished() -> None:
    history = [
        one for one in story("abc") if one.outcome is not OperationOutcome.OK or one.value != "c"
    ]
    history += [polled("c", 2), stored("c", 2)]
    assert anomalies(history) == {"unanswered": 1}  # the producer said that it was through
    history = [one for one in history if one != finished(P)]
    assert check(history).verdict is HistoryVerdict.VALID


def test_stored_record_of_failed_send_is_failed_write() -> None:
    assert check(story("ab", acknowledged="ab", failed="c")).verdict is HistoryVerdict.VALID
    assert anomalies(story("abc", acknowledged="ab", failed="c")) == {"failed_write": 1}


def test_record_never_sent_to_partition_is_phantom() -> None:
    assert anomalies(story("abcx", "abc-"))["phantom"] == 1
    assert anomalies([*story("abc", "ab"), polled("x", 2)])["phantom"] == 1
    history = story("abc", "-bc")
    elsewhere = [stored("a", 0, partition=1) if one == stored("a", 0) else one for one in history]
    assert anomalies(elsewhere)["phantom"] == 1


def test_acknowledged_offset_differing_from_log_is_inconsistent_offset() -> None:
    history = story("abc")
    history[3] = send("a", OperationOutcome.OK, offset=1)
    assert anomalies(history) == {"inconsistent_offset": 1}
    history[3] = send("a", OperationOutcome.OK, offset=0)
    assert check(history).verdict is HistoryVerdict.VALID


def test_polled_record_differing_from_log_is_inconsistent_offset() -> None:
    assert anomalies(story("abc", "acb"))["inconsistent_offset"] == 2
    assert anomalies([*story("abc"), polled("b", 7)])["inconsistent_offset"] == 1


@pytest.mark.parametrize(
    ("polls", "found"),
    [
        ([0, 1, 1, 2], {"poll_duplicate": 1}),
        ([0, 1, 2, 0, 1, 2], {"poll_duplicate": 3}),
        ([0, 2, 1], {"nonmonotonic_poll": 1}),
        ([0, 2], {"poll_skip": 1}),
        ([2], {"poll_skip": 2}),
        ([0, 1], {"unseen": 1}),
        ([], {"unseen": 3}),
    ],
)
def test_poll_anomalies_are_found_and_counted(polls: list[int], found: dict[str, int]) -> None:
    history = [*story("abc", ""), *(polled("abc"[offset], offset) for offset in polls)]
    assert anomalies(history) == found


def test_acknowledged_record_beyond_consumer_end_is_unseen() -> None:
    history = [end(2) if one == end(3) else one for one in story("abc", "ab")]
    assert anomalies(history) == {"unseen": 1}


def test_unacknowledged_record_beyond_consumer_end_is_valid() -> None:
    history = [
        end(2) if one == end(3) else one
        for one in story("abc", "ab", acknowledged="ab", unknown="c")
    ]
    assert check(history).verdict is HistoryVerdict.VALID


def test_unfinished_consumer_is_stuck_without_unseen_records() -> None:
    history = [
        finished(C, OperationOutcome.INFO) if one == finished(C) else one
        for one in story("abc", "a")
    ]
    assert anomalies(history) == {"stuck": 1}


def test_send_order_is_checked_per_partition() -> None:
    history = [
        ClientOperation(P, outcome, ClientAction.SEND, partition, -1, value)
        for outcome in (OperationOutcome.INVOKE, OperationOutcome.OK)
        for value, partition in (("a", 1), ("b", 0))
    ]
    history += [stored("b", 0), stored("a", 0, partition=1), READ]
    assert check(history).verdict is HistoryVerdict.VALID


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ([], "not read to its end"),
        ([READ], "nothing was acknowledged"),
        (story("", acknowledged="", unknown="abc"), "nothing was acknowledged"),
        ([*story("abc"), send("a")], "'a' was sent twice"),
        ([*story("abc"), send("x", OperationOutcome.OK)], "'x' ended and never began"),
        ([*story("abc"), send("a", OperationOutcome.INFO)], "'a' ended twice"),
        (story("abc")[:-1], "not read to its end"),
    ],
)
def test_inconclusive_history_has_verdict_unknown_with_reason(
    history: list[ClientOperation], why: str
) -> None:
    judgement = check(history)
    assert judgement.verdict is HistoryVerdict.UNKNOWN
    assert why in judgement.why


def test_finding_lists_limited_readable_proofs() -> None:
    values = [f"{number:03}" for number in range(100)]
    history = [send(value) for value in values] + [
        send(value, OperationOutcome.OK) for value in values
    ]
    (finding,) = check([*history, READ]).findings
    assert finding.anomaly is Anomaly.LOST_WRITE
    assert finding.count == len(values)
    assert len(finding.proofs) == SHOWN
    assert str(finding) == "lost_write x100: 0 ms producer ok send [0] 000"


OPERATIONS = st.builds(
    ClientOperation,
    st.sampled_from([P, C, R]),
    st.sampled_from(OperationOutcome),
    st.sampled_from(ClientAction),
    st.integers(-1, 2),
    st.one_of(st.integers(-1, 4), st.just(2**62)),
    st.sampled_from(["", "a", "b", "c"]),
)


@given(st.lists(OPERATIONS, max_size=40))
def test_any_history_gets_consistent_verdict(history: list[ClientOperation]) -> None:
    judgement = check(history)
    assert (judgement.verdict is HistoryVerdict.INVALID) == bool(judgement.findings)
    assert (judgement.verdict is HistoryVerdict.UNKNOWN) == bool(judgement.why)


@given(st.lists(OPERATIONS, max_size=10))
def test_history_round_trips_through_lines(history: list[ClientOperation]) -> None:
    assert list(from_lines(to_lines(history).splitlines())) == history


def test_damaged_history_line_raises_bad_history_with_line_number() -> None:
    lines = [*to_lines([READ, READ]).splitlines(), '{"process": "p", "outcome": "maybe"}']
    with pytest.raises(BadHistory, match="line 3: no operation"):
        list(from_lines(lines))
