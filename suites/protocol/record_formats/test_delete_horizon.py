"""RECF: the delete horizon that compaction gives to a batch with a tombstone (KIP-534)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.records import DELETE_HORIZON, Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS, QUICKLY, batches_of, offsets

HOUR_MS = 60 * 60 * 1000
CONFIGS = {
    "cleanup.policy": "compact",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0",
    "delete.retention.ms": str(HOUR_MS),
}
CODECS = ["none", "gzip"]
BATCHES: list[list[tuple[bytes, bytes | None]]] = [
    [(b"a", b"1"), (b"horizon", None), (b"b", b"1")],
    [(b"c", b"1")],
    [(b"a", b"2")],
    [(b"c", b"2")],
    [(b"b", b"2")],
    [(b"c", b"3")],
]
TIMES_MS = [number * 1_000 for number in range(len(BATCHES))]
CLEANED = [  # the number of batches that are written, and the offsets that stay
    (2, [0, 1, 2, 3]),
    (4, [1, 2, 3, 4, 5]),
    (6, [1, 4, 5, 6, 7]),
]


class _Horizons:
    """One partition, of whose first batch the horizon is read after each compaction."""

    def __init__(self, broker: BrokerUnderTest, topic: Topic, partition: int) -> None:
        self._broker, self._topic, self._partition = broker, topic, partition
        self._base_ms, self._written = now_ms() - HOUR_MS, 0

    def append_up_to(self, count: int) -> None:
        """Append so many of the batches in all; each begins a segment."""
        for number in range(self._written, count):
            records = [Record(value, key) for key, value in BATCHES[number]]
            batch = RecordBatch(records, base_timestamp=self._base_ms + TIMES_MS[number])
            data = encode_batch(batch, CODECS[self._partition])
            append(self._broker, self._topic, data, partition=self._partition)
        self._written = count

    def once_left(self, left: list[int]) -> int | None:
        """Return the horizon when these offsets are left; None if the batch has none."""
        return self._broker.last_seen(
            self._look, lambda seen: seen[0] == left and seen[1] is not None, COMPACTED_WITHIN_MS
        )[1]

    def _look(self) -> tuple[list[int], int | None]:
        batches = batches_of(self._broker, self._topic, self._partition)
        has_one = bool(batches[0].attributes & DELETE_HORIZON)
        return offsets(batches), batches[0].base_timestamp if has_one else None


@judges("RECF-032")
@needs_broker(Use.TUNED, QUICKLY)
def test_delete_horizon_is_set_once_and_stays(broker: BrokerUnderTest) -> None:
    """The first compaction sets it an hour ahead; two others take a record of the same batch."""
    broker.version("Fetch", "4+")
    topic = broker.create_topic(len(CODECS), CONFIGS)
    logs = [_Horizons(broker, topic, partition) for partition in range(len(CODECS))]
    first: dict[str, int] = {}
    begun_ms = now_ms()
    for times, (count, left) in enumerate(CLEANED, 1):
        for log in logs:
            log.append_up_to(count)
        with requirement("RECF-032") as check:
            for codec, log in zip(CODECS, logs, strict=True):
                with check.subtest(f"codec {codec}"):
                    found = log.once_left(left)
                    where = f"codec {codec}, compacted {times} times"
                    assert found is not None, f"{where}: the batch of the tombstone has no horizon"
                    ahead_ms = first.setdefault(codec, found) - begun_ms
                    told = f"{where}: the horizon is {ahead_ms} ms ahead, expected an hour"
                    assert HOUR_MS // 2 < ahead_ms < 2 * HOUR_MS, told
                    told = f"{where}: the horizon is {found}, at first it was {first[codec]}"
                    assert found == first[codec], told
