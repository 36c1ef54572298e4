"""An idempotent producer that remembers what it has written, to send it again."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import expect_taken_again, new_producer


class Writer:
    """A producer of one partition, in its second epoch."""

    def __init__(self, client: BrokerUnderTest, topic: Topic, partition: int = 0) -> None:
        self.client = client
        self._topic, self._partition = topic, partition
        self._former = new_producer(client)
        self._producer = self._former.at_epoch(self._former.epoch + 1)
        expect_error(self._send(self._former.batch(0, b"former")).error_code, ErrorCode.NONE)
        self._next = 0
        self._written: list[tuple[bytes, int]] = []

    def append(self, count: int, where: str = "") -> None:
        """Append so many batches, each of two records; each begins at the end of the log."""
        for _ in range(count):
            end = self._end()
            batch = self._producer.batch(self._next, b"one", b"two")
            answer = self._send(batch)
            expect_error(answer.error_code, ErrorCode.NONE, f"{where} the next batch")
            told = (
                f"{where} the next batch is stored at {answer.base_offset}, the log ended at {end}"
            )
            assert answer.base_offset == end, told
            self._written.append((batch, end))
            self._next += 2

    def expect_goes_on(self, where: str) -> None:
        """The broker knows sent batches, refuses a gap and the former epoch, and takes the next."""
        end = self._end()
        for batch, _ in self._written[:-1]:
            expect_taken_again(
                self._send(batch).error_code,
                f"{where} an earlier batch once more",
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,  # of a batch that is not known any more
            )
        batch, offset = self._written[-1]
        again = self._send(batch)
        expect_error(again.error_code, ErrorCode.NONE, f"{where} the last batch once more")
        told = f"{where} the last batch once more has offset {again.base_offset}, not {offset}"
        assert again.base_offset == offset, told
        for batch, code, what in (
            (
                self._producer.batch(self._next + 1, b"gap"),
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                "a gap",
            ),
            (self._former.batch(1, b"old"), ErrorCode.INVALID_PRODUCER_EPOCH, "the former epoch"),
        ):
            expect_error(self._send(batch).error_code, code, f"{where} {what}")
        now = self._end()
        assert now == end, f"{where} nothing new was sent, the log ends at {now}, before at {end}"
        self.append(2, where)

    def _send(self, batch: bytes) -> ProduceResponse.PartitionProduceResponse:
        return self.client.produce(self._topic, batch, partition=self._partition)

    def _end(self) -> int:
        return self.client.end_offset(self._topic, self._partition)
