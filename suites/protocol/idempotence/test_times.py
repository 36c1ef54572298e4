"""IDEM: the times of batches that a producer sends again."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer

Answer = ProduceResponse.PartitionProduceResponse


@judges("IDEM-036")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_batch_returns_log_append_time_of_first_copy(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two batches with different times of the broker; the newer is sent again, then the older."""
    producer = new_producer(broker)
    topic = broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    copies: list[tuple[bytes, Answer]] = []

    def send(batch: bytes, where: str) -> Answer:
        answer = broker.produce(topic, batch, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, where)
        return answer

    def time_of_next() -> int:
        batch = producer.batch(len(copies), b"value")
        copies.append((batch, send(batch, f"batch {len(copies)}")))
        return copies[-1][1].log_append_time_ms

    with requirement("IDEM-036") as check:
        begun_ms = time_of_next()
        later_ms = broker.last_seen(time_of_next, lambda time_ms: time_ms > begun_ms)
        assert later_ms > begun_ms > 0, f"the times are {begun_ms} and {later_ms}"
        for name, (batch, first) in (("newer", copies[-1]), ("older", copies[-2])):
            with check.subtest(name):
                again = send(batch, f"the {name} batch again")
                expected = first.base_offset, first.log_append_time_ms
                found = again.base_offset, again.log_append_time_ms
                told = f"the {name} batch again: (base offset, log_append_time) is {found}"
                assert found == expected, f"{told}, expected {expected}"
