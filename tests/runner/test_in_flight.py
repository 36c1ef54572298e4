"""One request at a time, and again until answered: judged from the events of a link's rules."""

from __future__ import annotations

import pytest

from harness.runner.faults import Event
from suites.replication.support.in_flight import (
    ANSWERED,
    ASKED,
    HELD,
    LOST,
    InFlightRequest,
    Passage,
    given_up,
    in_flight_twice,
    passages,
)


def asked(number: int, connection: int = 0) -> Passage:
    return Passage(InFlightRequest.ASKED, connection, number)


def answered(number: int, connection: int = 0) -> Passage:
    return Passage(InFlightRequest.ANSWERED, connection, number)


def gone(connection: int = 0) -> Passage:
    return Passage(InFlightRequest.GONE, connection)


RIGHT = {
    "nothing": [],
    "one after another": [asked(1), answered(1), asked(2), answered(2)],
    "an old answer": [answered(7), asked(1), answered(1)],
    "again on another connection": [asked(1), gone(), asked(1, 1), answered(1, 1)],
    "lost twice": [asked(1), gone(), asked(2, 1), gone(1), asked(3, 2), answered(3, 2)],
    "an end is told twice": [asked(1), gone(), gone(), asked(2, 1), answered(2, 1)],
    "another connection ends": [gone(5), asked(1), gone(4), answered(1)],
}
TWO = {
    "on one connection": [asked(1), asked(2), answered(1), answered(2)],
    "on two": [asked(1), asked(1, 1), answered(1), answered(1, 1)],
    "after an answer": [asked(1), answered(1), asked(2), asked(3)],
    "the answer of another connection": [asked(1), answered(1, 1), asked(2)],
    "another connection has ended": [asked(1), gone(1), asked(2, 2)],
}
NEVER_AGAIN = {
    "once": [asked(1), gone()],
    "after a first retry": [asked(1), gone(), asked(2, 1), gone(1)],
    "after an answer": [asked(1), answered(1), asked(2), gone()],
    "what is asked again has no answer yet": [asked(1), gone(), asked(2, 1)],
}


@pytest.mark.parametrize("seen", RIGHT.values(), ids=RIGHT)
def test_single_request_in_flight_with_retries_gives_no_finding(seen: list[Passage]) -> None:
    assert in_flight_twice(seen) is None
    assert given_up(seen) is None


@pytest.mark.parametrize("seen", TWO.values(), ids=TWO)
def test_two_requests_in_flight_are_found(seen: list[Passage]) -> None:
    assert in_flight_twice(seen) is not None


def test_finding_of_two_requests_in_flight_lists_both() -> None:
    told = "asked 2 on connection 1, while unanswered: asked 1 on connection 0"
    assert in_flight_twice([asked(1), asked(2, 1)]) == told


@pytest.mark.parametrize("seen", NEVER_AGAIN.values(), ids=NEVER_AGAIN)
def test_missing_retry_of_unanswered_request_is_found(seen: list[Passage]) -> None:
    found = given_up(seen)
    assert found is not None
    assert found.endswith("not answered, and none is answered behind it")


def event(what: str, rule: str | None = None, connection: int | None = 0, number: int = 1) -> Event:
    detail = {"correlation_id": number} if what == "fired" else {}
    return Event(0.0, what, "1->controller", connection, rule=rule, detail=detail)


def test_rule_events_are_converted_to_passages() -> None:
    told = [
        event("armed", ASKED, None),
        event("fired", ASKED),
        event("fired", ANSWERED),
        event("fired", "another"),
        event("fired", ASKED, number=2),
        event("fired", LOST, number=2),
        event("closed"),
    ]
    assert list(passages(told)) == [asked(1), answered(1), asked(2), gone(), gone()]


@pytest.mark.parametrize("end", [event("released", HELD, None), event("expired", HELD)])
def test_held_response_counts_as_answered_when_released_or_expired(end: Event) -> None:
    early = [event("fired", ASKED), event("fired", HELD), event("fired", ASKED, number=2)]
    assert in_flight_twice(passages(early)) is not None
    late = [*early[:2], event("released", "another", None), end, early[2]]
    assert list(passages(late)) == [asked(1), answered(1), asked(2)]
