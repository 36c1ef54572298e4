"""Unmodified third-party producers with transactions, on several emulated releases."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import confluent_kafka
import pytest

from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import Address, create_topic, running_broker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its files in a way that Python warns of
    import kafka
    from kafka.errors import KafkaError
    from kafka.structs import OffsetAndMetadata
    from kafka.structs import TopicPartition as OtherPartition

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka")

INPUT, OUTPUT, NAME, GROUP = "in", "out", "copier", "copiers"
READ = confluent_kafka.TopicPartition(INPUT, 0)


@pytest.fixture(params=["", "4.4.0", "3.9.2", "2.8.2", "1.1.1", "0.11.0.3"])
def address(request: pytest.FixtureRequest) -> Iterator[Address]:
    with running_broker(like=request.param) as found:
        for name in (INPUT, OUTPUT):
            create_topic(found, name)
        yield found


def bootstrap(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


def producer_of(address: Address) -> confluent_kafka.Producer:
    """A producer that was initialized, and fences the one before."""
    settings = {
        "bootstrap.servers": bootstrap(address),
        "transactional.id": NAME,
        "log_level": 0,
    }
    made = confluent_kafka.Producer(settings)
    made.init_transactions(HANGS_AFTER_S)
    return made


def consumer_of(address: Address, isolation: str) -> confluent_kafka.Consumer:
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap(address),
            "group.id": GROUP,
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )


def values(address: Address, isolation: str = "read_committed") -> list[bytes | str | None]:
    """The values in the output, up to its end."""
    consumer = consumer_of(address, isolation)
    try:
        consumer.assign([confluent_kafka.TopicPartition(OUTPUT, 0, 0)])
        found: list[bytes | str | None] = []
        while True:
            message = consumer.poll(HANGS_AFTER_S)
            assert message is not None, "no end of the partition"
            error = message.error()
            if error is not None:
                assert error.code() == confluent_kafka.KafkaError._PARTITION_EOF
                return found
            found.append(message.value())
    finally:
        consumer.close()


def test_readers_of_committed_records_get_those_of_committed_transactions(
    address: Address,
) -> None:
    producer = producer_of(address)
    for value, commits in ((b"a", True), (b"b", False), (b"c", True)):
        producer.begin_transaction()
        producer.produce(OUTPUT, value, partition=0)
        producer.flush(HANGS_AFTER_S)
        if commits:
            producer.commit_transaction(HANGS_AFTER_S)
        else:
            producer.abort_transaction(HANGS_AFTER_S)
    producer.begin_transaction()
    producer.produce(OUTPUT, b"d", partition=0)
    producer.flush(HANGS_AFTER_S)
    assert values(address) == [b"a", b"c"]
    assert values(address, "read_uncommitted") == [b"a", b"b", b"c", b"d"]
    producer.commit_transaction(HANGS_AFTER_S)
    assert values(address) == [b"a", b"c", b"d"]


def test_offsets_are_committed_with_the_transaction_alone(address: Address) -> None:
    producer, consumer = producer_of(address), consumer_of(address, "read_committed")
    found: list[int] = []
    for offset, commits in ((3, True), (5, False)):
        producer.begin_transaction()
        sent = [confluent_kafka.TopicPartition(INPUT, 0, offset)]
        producer.send_offsets_to_transaction(
            sent, consumer.consumer_group_metadata(), HANGS_AFTER_S
        )
        if commits:
            producer.commit_transaction(HANGS_AFTER_S)
        else:
            producer.abort_transaction(HANGS_AFTER_S)
        found += [one.offset for one in consumer.committed([READ], HANGS_AFTER_S)]
    consumer.close()
    assert found == [3, 3]


def test_a_producer_is_fenced_by_the_next_one_and_its_records_are_aborted(
    address: Address,
) -> None:
    first = producer_of(address)
    first.begin_transaction()
    first.produce(OUTPUT, b"lost", partition=0)
    first.flush(HANGS_AFTER_S)
    second = producer_of(address)
    with pytest.raises(confluent_kafka.KafkaException) as fenced:
        first.commit_transaction(HANGS_AFTER_S)
    assert fenced.value.args[0].fatal()
    second.begin_transaction()
    second.produce(OUTPUT, b"kept", partition=0)
    second.commit_transaction(HANGS_AFTER_S)
    assert values(address) == [b"kept"]


def other_producer(address: Address) -> kafka.KafkaProducer:
    made = kafka.KafkaProducer(bootstrap_servers=bootstrap(address), transactional_id=NAME)
    made.init_transactions()
    return made


def commit(producer: kafka.KafkaProducer, value: bytes) -> None:
    producer.begin_transaction()
    producer.send(OUTPUT, value, partition=0).get(HANGS_AFTER_S)
    producer.commit_transaction()


def test_another_client_commits_aborts_sends_offsets_and_is_fenced(address: Address) -> None:
    first = other_producer(address)
    for value, commits in ((b"a", True), (b"b", False)):
        first.begin_transaction()
        first.send(OUTPUT, value, partition=0).get(HANGS_AFTER_S)
        if commits:
            offsets = {OtherPartition(INPUT, 0): OffsetAndMetadata(4, "", -1)}
            first.send_offsets_to_transaction(offsets, GROUP)
            first.commit_transaction()
        else:
            first.abort_transaction()
    consumer = consumer_of(address, "read_committed")
    (committed,) = consumer.committed([READ], HANGS_AFTER_S)
    consumer.close()
    second = other_producer(address)
    with pytest.raises(KafkaError):
        commit(first, b"c")
    assert committed.offset == 4
    assert values(address) == [b"a"]
    for each in (first, second):
        each.close(timeout=1)
