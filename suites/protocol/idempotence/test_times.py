"""IDEM: the times of batches that a producer sends again."""

from __future__ import annotations

from itertools import count

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
    batches: list[bytes] = []
    sequences = count()

    def send(batch: bytes, where: str) -> Answer:
        answer = broker.produce(topic, batch, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, where)
        return answer

    def first_copy() -> Answer:
        batches.append(producer.batch(next(sequences), b"value"))
        return send(batches[-1], f"batch {len(batches) - 1}")

    with requirement("IDEM-036"):
        old = first_copy()
        new = broker.last_seen(
            first_copy, lambda answer: answer.log_append_time_ms > old.log_append_time_ms
        )
        told = f"the times are {old.log_append_time_ms} and {new.log_append_time_ms}"
        assert new.log_append_time_ms > old.log_append_time_ms > 0, told
        for name, first, batch in (("newer", new, batches[-1]), ("older", old, batches[0])):
            if batch not in batches[-5:]:
                continue
            again = send(batch, f"the {name} batch again")
            expected = first.base_offset, first.log_append_time_ms
            found = again.base_offset, again.log_append_time_ms
            told = f"the {name} batch again: (base offset, log_append_time) is {found}"
            assert found == expected, f"{told}, expected {expected}"
