"""The records that an idempotent producer has stored, as our own client reads them."""

from __future__ import annotations

from harness.runner.asked_clients import ClientUnderTest
from suites.clients.read_records import stored_batches

COUNT = 20


def expect_stored_once(client: ClientUnderTest, topic: str) -> None:
    """Our own client reads the log: the records in order, of one producer, without gaps."""
    batches = stored_batches(client, topic)
    producers = {batch.producer_id for batch in batches}
    assert len(producers) == 1, f"batches have the producer ids {sorted(producers)}"
    assert min(producers) >= 0, f"batches have the producer id {min(producers)}"
    sequences = [batch.base_sequence + at for batch in batches for at in range(len(batch.records))]
    assert sequences == list(range(COUNT)), f"the records have the sequences {sequences}"
    values = [one.value for batch in batches for one in batch.records]
    assert values == [b"0-%d" % number for number in range(COUNT)], f"stored values are {values}"
