"""What one client process is asked to do, and what its records are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

PRODUCER, CONSUMER = "producer", "consumer"
FILL = b"."


@dataclass(frozen=True, slots=True)
class Job:
    """Send ``records`` to the partitions in turn, spread over ``span_ms``; read all there is."""

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
        """The bytes of a record, of at least ``value_bytes``."""
        return name.encode().ljust(self.value_bytes, FILL)

    def name_of(self, payload: bytes | None) -> str:
        """The other way round; bytes that nobody sent keep their looks."""
        name = (payload or b"").rstrip(FILL).decode("ascii", "replace")
        return name if self.payload(name) == payload else f"not sent: {(payload or b'')[:40]!r}"

    def names(self) -> list[tuple[str, int]]:
        """Every record that is to be sent, with its partition, in order."""
        return [(f"{number:05}", number % self.partitions) for number in range(self.records)]
