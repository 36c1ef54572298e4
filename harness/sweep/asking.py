"""One harmless request on a connection of its own, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.client.connection import Address, Connection
from harness.client.errors import BrokerMisbehaved, ConnectionClosed, ResponseTimeout
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message, Request, Struct


class SweepOutcome(StrEnum):
    """DECODED: answered, to the last byte as the definition says, with or without an error code.

    UNSERVED: refused by a close, as brokers may do with a version that is a placeholder. NOT_SENT:
    it would have been destructive. The others are not as Kafka does it.
    """

    DECODED = "decoded"
    UNSERVED = "unserved"
    NOT_SENT = "not sent"
    CLOSED = "closed"
    SILENT = "silent"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """The result of a request at one version of an API.

    Attributes:
        errors: names of the error codes in the answer, without NONE.
        note: the problem, or the reason why the request was not sent.
    """

    api_name: str
    version: int
    outcome: SweepOutcome
    errors: tuple[str, ...] = ()
    note: str = ""

    @property
    def good(self) -> bool:
        """True if the outcome shows no defect of the broker."""
        return self.outcome in (SweepOutcome.DECODED, SweepOutcome.UNSERVED, SweepOutcome.NOT_SENT)


def ask(
    address: Address,
    request: Request[Message],
    version: int,
    timeout_ms: float,
    placeholder: str = "",
) -> SweepAnswer:
    """Send one request and decode its answer strictly; the outcome contains any problem.

    ``placeholder``: the ticket by which a broker may advertise this version and close on it.
    """
    name = type(request).__name__.removesuffix("Request")
    try:
        with Connection(address, timeout_ms=timeout_ms) as connection:
            response = connection.ask(request, version)
    except ConnectionClosed as problem:
        if placeholder:
            return SweepAnswer(
                name, version, SweepOutcome.UNSERVED, note=f"a placeholder ({placeholder})"
            )
        return SweepAnswer(name, version, SweepOutcome.CLOSED, note=str(problem))
    except ResponseTimeout as problem:
        return SweepAnswer(name, version, SweepOutcome.SILENT, note=str(problem))
    except BrokerMisbehaved as problem:
        return SweepAnswer(name, version, SweepOutcome.UNDECODABLE, note=str(problem))
    return SweepAnswer(
        name, version, SweepOutcome.DECODED, tuple(dict.fromkeys(error_names(response)))
    )


def error_names(answer: Struct) -> Iterator[str]:
    """Every error code anywhere in the answer, by name and without NONE."""
    for field in answer.spec.fields:
        value = getattr(answer, field.name)
        if field.kind == "int16" and field.name.endswith("error_code") and value != ErrorCode.NONE:
            yield ErrorCode.describe(value)
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, Struct):
                yield from error_names(element)
