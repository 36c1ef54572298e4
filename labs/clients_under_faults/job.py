"""The task of one client process, and its records."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

PRODUCER, CONSUMER = "producer", "consumer"
FILL = b"."


@dataclass(frozen=True, slots=True)
class Job:
    """Send ``records`` to the partitions in turn, spread over ``span_ms``; read all of them."""

    bootstrap: str
    topic: str
    partitions: int
    records: int
    value_bytes: int
    span_ms: int
    idempotent: bool
    linger_ms: int
    batch_bytes: int
    in_flight: int
    delivery_timeout_ms: int
    request_timeout_ms: int = 2000
    backoff_ms: int = 50
    longest_backoff_ms: int = 300
    fetch_wait_ms: int = 100

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls(**json.loads(text))

    def payload(self, name: str) -> bytes:
        """Return the bytes of a record, of at least ``value_bytes``."""
        return name.encode().ljust(self.value_bytes, FILL)

    def name_of(self, payload: bytes | None) -> str:
        """Return the name in a record's bytes; for bytes that the job does not send, their
        beginning.
        """
        name = (payload or b"").rstrip(FILL).decode("ascii", "replace")
        return name if self.payload(name) == payload else f"not sent: {(payload or b'')[:40]!r}"

    def names(self) -> list[tuple[str, int]]:
        """Return the name and the partition of each record to send, in order."""
        return [(f"{number:05}", number % self.partitions) for number in range(self.records)]
