"""The order of requests and responses on a link, and the limit of one request in flight. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from harness.runner.faults import Event

ASKED, ANSWERED, HELD, LOST = "asked", "answered", "held", "lost"
"""Ids of the rules with the events that are read.

They fire for each request, for each response that passed, for a response that was held, and for a
request that was lost with its connection.
"""


class InFlightRequest(Enum):
    """A passage of a request, of its answer, or the end of a connection with all asked there."""

    ASKED = "asked"
    ANSWERED = "answered"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Passage:
    """``number``: the correlation id; of an end None."""

    what: InFlightRequest
    connection: int
    number: int | None = None

    def __str__(self) -> str:
        of = "" if self.number is None else f" {self.number}"
        return f"{self.what.value}{of} on connection {self.connection}"


def passages(events: Iterable[Event]) -> Iterator[Passage]:
    """Read from the events of the rules; an answer that was held passes when it is let go."""
    held: list[Passage] = []
    for event in events:
        connection = -1 if event.connection is None else event.connection
        number = event.detail.get("correlation_id")
        if event.what == "closed" or (event.what, event.rule) == ("fired", LOST):
            yield Passage(InFlightRequest.GONE, connection)
        elif (event.what, event.rule) == ("fired", ASKED):
            yield Passage(InFlightRequest.ASKED, connection, number)
        elif (event.what, event.rule) == ("fired", ANSWERED):
            yield Passage(InFlightRequest.ANSWERED, connection, number)
        elif (event.what, event.rule) == ("fired", HELD):
            held.append(Passage(InFlightRequest.ANSWERED, connection, number))
        elif event.what in ("released", "expired") and event.rule == HELD:
            yield from held
            held.clear()


def in_flight_twice(seen: Iterable[Passage]) -> str | None:
    """The first request that passed while another was unanswered; None: there is none."""
    unanswered: list[Passage] = []
    for each in seen:
        if each.what is InFlightRequest.ASKED:
            if unanswered:
                return f"{each}, while unanswered: {', '.join(map(str, unanswered))}"
            unanswered.append(each)
        else:
            unanswered = [one for one in unanswered if not _ends(each, one)]
    return None


def given_up(seen: Iterable[Passage]) -> str | None:
    """Describe a request that lost its connection, if no response passed after that.

    None if there is none.
    """
    waiting: Passage | None = None
    unanswered: dict[int, Passage] = {}
    for each in seen:
        if each.what is InFlightRequest.ASKED:
            unanswered[each.connection] = each
        elif each.what is InFlightRequest.ANSWERED:
            unanswered.pop(each.connection, None)
            waiting = None
        else:
            waiting = unanswered.pop(each.connection, waiting)
    return None if waiting is None else f"{waiting}, not answered, and none is answered behind it"


def _ends(passage: Passage, asked: Passage) -> bool:
    if passage.connection != asked.connection:
        return False
    return passage.what is InFlightRequest.GONE or passage.number == asked.number
