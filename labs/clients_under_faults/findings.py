"""The findings, each as the shortest schedule that shows it: docs/findings/clients.md.

The seeds that found them depend on timing; these schedules show them nearly every time.
"""

from __future__ import annotations

from dataclasses import dataclass

from labs.clients_under_faults.schedule import ClientWorkload, FaultSchedule, ScheduledFault, Words

DELIVERY_TIMEOUT_MS = 3000
SILENCE_MS = 3500  # longer than the first records may take, not than the last may


@dataclass(frozen=True, slots=True)
class Known:
    """``shows``: an anomaly, or the verdict unknown where nothing can be acknowledged at all."""

    client: str
    shows: str
    schedule: FaultSchedule


def _one_rule(delivery_timeout_ms: int, at_ms: int, **words: object) -> FaultSchedule:
    workload = ClientWorkload(
        records=200,
        partitions=2,
        value_bytes=20,
        linger_ms=5,
        batch_bytes=500,
        in_flight=5,
        delivery_timeout_ms=delivery_timeout_ms,
    )
    rule: Words = {"id": "found", **words}
    return FaultSchedule(0, workload, (ScheduledFault(at_ms, SILENCE_MS, "rule", rule),))


_ANSWERS_ARE_LOST = _one_rule(
    DELIVERY_TIMEOUT_MS, 500, on="response", api="Produce", close="before"
)

FINDINGS = {
    "duplicates-after-a-timeout": Known("confluent-kafka", "duplicate", _ANSWERS_ARE_LOST),
    "no-new-producer-id": Known("kafka-python", "stuck", _ANSWERS_ARE_LOST),
    "one-late-producer-id": Known(
        "kafka-python",
        "unknown",
        _one_rule(60_000, 0, on="request", api="InitProducerId", first=1, delay=4000),
    ),
}
