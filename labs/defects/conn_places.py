"""Defects of the areas CONN and CONF: wrong limits for the number of connections."""

from __future__ import annotations

from collections.abc import Callable

from harness.reference_broker.connection_places import (
    Admission,
    ConnectionPlaces,
    PlacedConnection,
)
from labs.defects.defect import wrong_in_broker

Take = Callable[[ConnectionPlaces, PlacedConnection], Admission]
Leave = Callable[[ConnectionPlaces, PlacedConnection], None]
Limit = Callable[[ConnectionPlaces, str], int]
MODULE = "connection_places"


@wrong_in_broker("CONN-034", r"closed the connection", MODULE, "ConnectionPlaces.take")
def a_connection_beyond_the_limit_is_closed(take: Take) -> Take:
    """The broker closes a connection beyond max.connections."""

    def instead(places: ConnectionPlaces, connection: PlacedConnection) -> Admission:
        admission = take(places, connection)
        if admission is Admission.WAITS:
            places._waiting.pop(connection)
            return Admission.REFUSED
        return admission

    return instead


@wrong_in_broker("CONN-034", r"no answer before the deadline", MODULE, "ConnectionPlaces.leave")
def a_connection_waits_for_ever(leave: Leave) -> Leave:
    """The broker never serves a connection that had to wait."""

    def instead(places: ConnectionPlaces, connection: PlacedConnection) -> None:
        waiting, places._waiting = places._waiting, {}
        leave(places, connection)
        waiting.pop(connection, None)
        places._waiting = waiting

    return instead


@wrong_in_broker("CONN-024", r"are served after refused ones", MODULE, "ConnectionPlaces.leave")
def a_refused_connection_frees_a_place(leave: Leave) -> Leave:
    """The end of a connection that had no place frees one all the same."""

    def instead(places: ConnectionPlaces, connection: PlacedConnection) -> None:
        if connection not in places._served and places._by_ip[connection.ip]:
            places._by_ip[connection.ip] -= 1
        leave(places, connection)

    return instead


@wrong_in_broker("CONN-034", r"connections are served, 10 are allowed",
                 MODULE, "ConnectionPlaces._limit")  # fmt: skip
def all_addresses_have_no_limit(limit: Limit) -> Limit:
    """The broker ignores max.connections."""
    endless = 2**31
    return lambda places, name: limit(places, name) if name.endswith(".ip") else endless


@wrong_in_broker("CONF-043", r"connection \d+ is served with", MODULE, "ConnectionPlaces._limit")
def limits_are_those_of_the_start(limit: Limit) -> Limit:
    """The broker accepts another limit of connections, which has effect after a restart."""
    known: dict[str, int] = {}
    return lambda places, name: known.setdefault(name, limit(places, name))


DEFECTS = [
    a_connection_beyond_the_limit_is_closed,
    a_connection_waits_for_ever,
    a_refused_connection_frees_a_place,
    all_addresses_have_no_limit,
    limits_are_those_of_the_start,
]
