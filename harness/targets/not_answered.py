"""The reasons why a target cannot be asked, or why its first answers are wrong."""

from __future__ import annotations

import socket
from typing import ClassVar

from harness.base.address import Address
from harness.client.errors import BrokerMisbehaved, ConnectionClosed, EntryRefused
from harness.targets.wrong_answer import WrongAnswer

PLAINTEXT = (
    "that of a PLAINTEXT listener, as in bootstrap.servers, or of a secured one with "
    "config=FILE, the properties file of a client"
)
"""The address that every command takes."""
NOT_KAFKA = "what listens there does not answer as Kafka does"

OTHERS = {
    b"\x15\x03": "a TLS listener (its answer begins as a TLS alert does)",
    b"HTTP/": "an HTTP server",
    b"SSH-": "an SSH server",
}
"""Other servers that may be asked by mistake, by the first bytes of their answers."""


class NotAnswered(Exception):
    """A broker did not answer as Kafka does; the text describes the difference."""

    advice: ClassVar[str] = f"Start the broker, or correct the address: it is {PLAINTEXT}."
    """One sentence: the remedy."""
    summary: ClassVar[str] = "no Kafka broker answers at {address}"

    def at(self, address: Address) -> str:
        """The whole message for a user: the address, the observation and the remedy."""
        return f"{self.summary.format(address=address)}: {self}. {self.advice}"


class Silence(NotAnswered):
    """Nothing came before the deadline."""


class AnotherServer(NotAnswered):
    """The answer is that of another protocol."""

    advice = f"Correct the address: it is {PLAINTEXT}."


class Closed(NotAnswered):
    """The connection was closed in place of an answer."""

    advice = (
        "A TLS listener does so, and a broker that has as many connections as it takes. Correct "
        f"the address: it is {PLAINTEXT}."
    )


class NotEntered(NotAnswered):
    """TLS or SASL of a secured listener failed."""

    summary = "the listener at {address} cannot be entered"

    def __init__(self, refused: EntryRefused) -> None:
        super().__init__(str(refused))
        self._remedy = refused.advice

    def at(self, address: Address) -> str:
        return f"{self.summary.format(address=address)}: {self}. {self._remedy}"


class WantsAuthentication(NotAnswered):
    """The listener answers ApiVersions, and all else only after SASL."""

    advice = (
        "Give the settings of a client by external:HOST:PORT,config=FILE (docs/external.md), or "
        "another address, that of a PLAINTEXT listener."
    )
    summary = "the Kafka broker at {address} cannot be asked"


class AnsweredWrong(NotAnswered):
    """A Kafka broker answered, and the answer breaks ``requirement``.

    ``transcript``: the connection, as evidence.
    """

    advice = "Correct the broker; the address is right, for a Kafka broker answers there."
    summary = "the Kafka broker at {address} answers wrongly"

    def __init__(self, wrong: WrongAnswer, transcript: str) -> None:
        super().__init__(f"{wrong.observed} ({wrong.requirement} does not hold)")
        self.requirement, self.observed = wrong
        self.transcript = transcript


class AnsweredWithError(AnsweredWrong):
    """ApiVersions is known there, but the answer is an error code."""


def wrong_answer_behind(problem: BaseException) -> AnsweredWrong | None:
    """Return the wrong answer that caused an error; None if another cause did."""
    cause: BaseException | None = problem
    while cause is not None and not isinstance(cause, AnsweredWrong):
        cause = cause.__cause__
    return cause


def not_kafka(problem: BrokerMisbehaved, unread: bytes) -> NotAnswered:
    """Name the server that listens instead, by the first bytes of its answer."""
    for begin, what in OTHERS.items():
        if unread.startswith(begin):
            return AnotherServer(f"{NOT_KAFKA}: this is {what}")
    return AnotherServer(f"{NOT_KAFKA}: {problem}")


def no_connection(problem: BrokerMisbehaved) -> NotAnswered:
    """Return a reason that a user can act on: nothing there, no such host."""
    if isinstance(problem, EntryRefused):
        return NotEntered(problem)
    cause = problem.__cause__
    if isinstance(cause, ConnectionRefusedError):
        return NotAnswered("the connection is refused: nothing listens there")
    if isinstance(cause, socket.gaierror):
        return NotAnswered(f"the host name cannot be resolved: {cause.strerror}")
    return NotAnswered(str(problem))


def closed_at(request: str, problem: ConnectionClosed) -> str:
    """``request``: API and version; the close came in place of its answer."""
    return f"{NOT_KAFKA}: at {request} {problem}"
