"""ACKS: a producer that requests no response."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, produce_request
from harness.codec.messages import ProduceRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.appended import batch_of
from suites.protocol.support.healthy import healthy

NO_PARTITION = 999
COUNT = 3
REFUSED = b"refused "


@judges("ACKS-001")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_produce_with_acks_0_gets_no_response_and_is_appended(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three batches without an answer, and between them requests that get theirs."""
    topic = broker.create_topic()
    batch = batch_of(b"x", version=api_version)
    connection = broker.connect("ACKS-001")
    asked = range(100, 100 + COUNT)
    with requirement("ACKS-001"):
        for correlation_id in asked:
            request = produce_request(topic, batch, api_version, acks=0)
            connection.send(request, api_version, correlation_id=correlation_id - 50)
            connection.send(healthy(broker), 0, correlation_id=correlation_id)
        expect_answers(connection, asked)
        end = broker.end_offset(topic)
        assert end == COUNT, f"{COUNT} batches were sent before, the log ends at {end}"


@judges("ACKS-002")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_produce_with_acks_0_to_unknown_partition_closes_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A partition that the topic does not have."""
    topic = broker.create_topic()
    batch = batch_of(b"x", version=api_version)
    request = produce_request(topic, batch, api_version, partition=NO_PARTITION, acks=0)
    _expect_end(broker, request, api_version)


@judges("ACKS-002")
@at_versions("Produce", "0-2", "3-8", "9-12")
def test_produce_with_acks_0_to_unknown_topic_closes_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name that no topic has; from v13 a topic has no name here."""
    topic, batch = Topic(broker.unique_topic()), batch_of(b"x", version=api_version)
    _expect_end(broker, produce_request(topic, batch, api_version, acks=0), api_version)


@judges("ACKS-002")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
@pytest.mark.parametrize("order", [(0, NO_PARTITION), (NO_PARTITION, 0)])
def test_produce_with_acks_0_closes_connection_if_one_of_two_partitions_fails(
    broker: BrokerUnderTest, api_version: int, order: tuple[int, int]
) -> None:
    """A partition that is not there behind a good one, and before it."""
    topic = broker.create_topic()
    request = produce_request(topic, None, api_version, acks=0)
    batch = batch_of(b"x", version=api_version)
    request.topic_data[0].partition_data = [
        ProduceRequest.PartitionProduceData(index=index, records=batch) for index in order
    ]
    _expect_end(broker, request, api_version)


@judges("ACKS-002")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
@pytest.mark.parametrize("bad_topic", [0, 1])
def test_produce_with_acks_0_closes_connection_if_one_of_two_topics_fails(
    broker: BrokerUnderTest, api_version: int, bad_topic: int
) -> None:
    """A topic with a partition that is not there before a good topic, and behind it."""
    batch = batch_of(b"x", version=api_version)
    one, other = (
        produce_request(
            broker.create_topic(),
            batch,
            api_version,
            partition=NO_PARTITION if at == bad_topic else 0,
            acks=0,
        )
        for at in range(2)
    )
    one.topic_data += other.topic_data
    _expect_end(broker, one, api_version)


@judges("ACKS-002")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
@pytest.mark.parametrize("wrong", ["damaged", "too large"])
def test_produce_with_acks_0_closes_connection_if_batch_is_refused(
    broker: BrokerUnderTest, api_version: int, wrong: str
) -> None:
    """A batch with a wrong checksum, and one above max.message.bytes; neither is appended."""
    topic = broker.create_topic(configs={"max.message.bytes": "1000"})
    batch = bytearray(batch_of(REFUSED * (200 if wrong == "too large" else 1), version=api_version))
    batch[-5] ^= wrong == "damaged"
    request = produce_request(topic, bytes(batch), api_version, acks=0)
    _expect_end(broker, request, api_version)
    with requirement("ACKS-002"):
        end = broker.end_offset(topic)
        assert end == 0, f"{wrong}: refused, yet the log ends at {end}, expected 0"


@judges("ACKS-018")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_produce_with_acks_0_appends_to_partitions_beside_one_that_fails(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three partitions; the second is not there, or its batch is damaged: the others grow."""
    good, damaged = (bytearray(batch_of(b"x", version=api_version)) for _ in range(2))
    damaged[-5] ^= 1
    with requirement("ACKS-018") as check:
        for where, second, batch in (
            ("no such partition", NO_PARTITION, good),
            ("a damaged batch", 2, damaged),
        ):
            with check.subtest(where):
                topic = broker.create_topic(partitions=3)
                request = produce_request(topic, None, api_version, acks=0)
                request.topic_data[0].partition_data = [
                    ProduceRequest.PartitionProduceData(index=index, records=bytes(records))
                    for index, records in ((0, good), (second, batch), (1, good))
                ]
                connection = broker.connect("ACKS-018")
                connection.send(request, api_version)
                connection.expect_closed()
                ends = [broker.end_offset(topic, partition) for partition in range(3)]
                assert ends == [1, 1, 0], f"{where}: the logs end at {ends}, expected [1, 1, 0]"


def _expect_end(broker: BrokerUnderTest, request: ProduceRequest, version: int) -> None:
    """The broker closes the connection, and sends nothing before."""
    connection = broker.connect("ACKS-002")
    with requirement("ACKS-002"):
        connection.send(request, version)
        connection.expect_closed()
