"""The log of one partition: what it holds, and that a refused batch leaves it alone."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import RecordBatch
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import batches_in


class UntouchedLog:
    """A partition to which nothing may be appended from now on."""

    def __init__(self, broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> None:
        """Asks for the log's end."""
        self.broker, self.topic, self.partition = broker, topic, partition
        self.renew()

    def renew(self) -> None:
        """Take the present end: what an earlier subtest appended is no failure of the next one."""
        self.end = self.broker.end_offset(self.topic, self.partition)

    def expect_refusal(
        self, records: bytes, api_version: int, expected: ErrorCode, where: str = ""
    ) -> None:
        """Produce these bytes: the error comes, and nothing is appended."""
        self.renew()
        answer = self.broker.produce(self.topic, records, api_version, partition=self.partition)
        expect_error(answer.error_code, expected, where)
        self.expect_untouched(where)

    def expect_untouched(self, where: str = "") -> None:
        """The log ends where it ended when this object was made or renewed."""
        end = self.broker.end_offset(self.topic, self.partition)
        told = f"{where}: refused, yet the log grew from {self.end} to {end}"
        assert end == self.end, told.removeprefix(": ")


def stored_batches(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> list[RecordBatch]:
    """All batches of a partition, fetched from offset 0 up to the high watermark."""
    found: list[RecordBatch] = []
    offset, end = 0, 1
    while offset < end:
        answer = broker.fetch(topic, offset, partition=partition)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
        end = answer.high_watermark
        batches = batches_in(record_bytes(answer))
        assert batches or offset == end, (
            f"nothing comes from offset {offset}, the log ends at {end}"
        )
        for batch in batches:
            first, last = batch.base_offset, batch.base_offset + (batch.last_offset_delta or 0)
            assert last >= offset, f"offset {offset} was fetched, a batch {first} to {last} came"
            found.append(batch)
            offset = last + 1
    return found


def keys_and_values(batches: Sequence[RecordBatch]) -> list[tuple[bytes | None, bytes | None]]:
    """Return keys and values of all records, in order."""
    return [(record.key, record.value) for batch in batches for record in batch.records]
