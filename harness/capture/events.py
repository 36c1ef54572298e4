"""The events of a capture, in order: messages, SASL tokens, and notices of problems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.capture.segment import SocketAddress
from harness.codec.apis import Api
from harness.codec.structs import Message

REQUEST, RESPONSE = "request", "response"


@dataclass(frozen=True, slots=True)
class ConnectionInfo:
    """``number`` counts the connections of a capture from 1.

    ``interface``: the interface of the capture, in a file that names it; of a proxy it is the link.
    """

    number: int
    client: SocketAddress
    server: SocketAddress
    interface: str = ""


@dataclass(slots=True)
class Captured:
    """One frame. ``message`` is None where the body was not decoded: ``problem`` is the reason.

    ``api`` is None for a response to a request that was not captured, and for SASL tokens
    (``token``), which have no header. ``payload`` is the content of the frame (only its head when
    it was cut), ``length`` its length on the wire, without the four bytes of the length itself.
    """

    connection: ConnectionInfo
    direction: str  # REQUEST or RESPONSE
    time_ns: int
    length: int
    payload: bytes
    api: Api | None = None
    api_key: int | None = None  # also of an API that is not known
    version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None
    message: Message | None = None
    left_over: int = 0
    note: str = ""
    problem: Exception | None = None
    cut: str = ""
    token: bool = False
    answer_expected: bool = True  # a Produce with acks 0 has no response
    request: Captured | None = None  # of a response
    latency_ns: int | None = None  # of a response: since the last byte of its request
    topics: tuple[str, ...] = ()
    errors: Counter[str] = field(default_factory=Counter)  # name -> how often


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a connection that is no frame; ``kind`` is one word to filter by."""

    connection: ConnectionInfo
    time_ns: int
    kind: str  # lost, skipped, tls, unanswered, one_sided or limit
    text: str
    count: int = 0  # bytes, or requests


Event = Captured | Notice


@dataclass(slots=True)
class Totals:
    """The numbers of a whole capture."""

    connections: int = 0  # in which Kafka was spoken
    other_connections: int = 0
    encrypted_connections: int = 0
    requests: int = 0
    responses: int = 0
    tokens: int = 0
    unanswered: int = 0
    unmatched: int = 0  # to requests that were not captured
    one_sided_connections: int = 0  # of one end no packet was captured
    undecodable: int = 0
    with_left_over: int = 0  # messages with bytes behind their body
    lost_bytes: int = 0
    skipped_bytes: int = 0
    repeated_bytes: int = 0
