"""One connection of the first contact with a broker; every failure becomes NotAnswered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import (
    BrokerMisbehaved,
    ConnectionClosed,
    EntryRefused,
    ResponseTimeout,
    WireViolation,
)
from harness.codec.apis import api_of
from harness.codec.frame import LENGTH_BYTES
from harness.codec.structs import Message, Request
from harness.targets.not_answered import (
    AnsweredWrong,
    Closed,
    NotAnswered,
    NotEntered,
    Silence,
    closed_at,
    no_connection,
    not_kafka,
)
from harness.targets.wrong_answer import ID_BYTES, ContactRequest, wrong_answer

M = TypeVar("M", bound=Message)
CLIENT_ID = "kafka-conformance-probe"
REST_MS = 1_000
"""For the first bytes of an answer with a size that makes no sense."""


@contextmanager
def contact(address: Address, timeout_ms: float) -> Iterator[Connection]:
    """A connection. Raises NotAnswered: there is none within the timeout."""
    try:
        connection = Connection((address.host, address.port), CLIENT_ID, timeout_ms)
    except ResponseTimeout as problem:
        raise Silence(f"no connection within {timeout_ms:.0f} ms") from problem
    except BrokerMisbehaved as problem:
        raise no_connection(problem) from problem
    with connection:
        yield connection


def answer(connection: Connection, request: Request[M], version: int) -> M:
    """Send the request and return its response, decoded strictly.

    Raises AnsweredWrong: a Kafka broker answered, and wrongly; Closed, Silence, AnotherServer.
    """
    sent = ContactRequest(api_of(type(request)), version, 0)
    try:
        sent = sent._replace(correlation_id=connection.send(request, version))
        return cast("M", connection.receive())
    except BrokerMisbehaved as problem:
        raise _reason(connection, sent, problem) from problem


def _reason(connection: Connection, sent: ContactRequest, problem: BrokerMisbehaved) -> NotAnswered:
    if isinstance(problem, EntryRefused):
        return NotEntered(problem)
    unread = connection.unread
    if isinstance(problem, WireViolation) and problem.payload is None:
        unread = connection.await_unread(LENGTH_BYTES + ID_BYTES, REST_MS)
    wrong = wrong_answer(sent, problem, unread)
    if wrong is not None:
        return AnsweredWrong(wrong, connection.transcript.render())
    if isinstance(problem, ResponseTimeout):
        return Silence(f"no answer within {connection.timeout_ms:.0f} ms to {sent}: {problem}")
    if isinstance(problem, ConnectionClosed):
        return Closed(closed_at(str(sent), problem))
    return not_kafka(problem, unread)
