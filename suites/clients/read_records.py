"""Reading by a client, and comparing with what was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.clients.records import in_partition
from harness.clients.vocabulary import Json
from harness.codec.records import RecordBatch, decode_batches
from harness.runner.asked_clients import ClientUnderTest


@contextmanager
def leader_of(client: ClientUnderTest, topic: str) -> Iterator[BrokerUnderTest]:
    """Our own client of the broker that leads partition 0; in a cluster it may be any."""
    found = client.broker.metadata([topic])
    leader = found.topics[0].partitions[0].leader_id
    (at,) = [(one.host, one.port) for one in found.brokers if one.node_id == leader]
    made = client.broker.another(topic)
    made.addresses = [client.broker.reached.get(at, at)]
    try:
        yield made
    finally:
        made.leave()


def stored_batches(client: ClientUnderTest, topic: str) -> list[RecordBatch]:
    """The batches of partition 0, as our own client reads them."""
    with leader_of(client, topic) as leader:
        records = leader.fetch(Topic(topic), 0, partition=0).records
    assert records, "our own client reads no records"
    return decode_batches(bytes(records))


def expect_read(client: ClientUnderTest, topic: str, sent: Sequence[Json]) -> None:
    """All records of each partition come back from its beginning, as they were sent."""
    for partition in sorted({one["partition"] for one in sent}):
        wanted = in_partition(sent, partition)
        found = client.calls.read(topic, partition, 0, len(wanted))
        expect_same(found, wanted, f"partition {partition}")


def expect_same(found: Sequence[Json], wanted: Sequence[Json], where: str) -> None:
    """The records are equal; the first that differs is named, with the fields that do."""
    assert len(found) == len(wanted), f"{where}: {len(found)} records came, {len(wanted)} were sent"
    for number, (read, expected) in enumerate(zip(found, wanted, strict=True)):
        differ = {key: read.get(key) for key in expected if read.get(key) != expected[key]}
        were = {key: expected[key] for key in differ}
        assert not differ, f"{where}, record {number}: {differ} was read, {were} was sent"


def expect_values(found: Sequence[Json], wanted: Sequence[str], what: str) -> None:
    """The records have these values, in order."""
    values = [one["value"] for one in found]
    assert values == list(wanted), f"{what}: {values} came, expected {list(wanted)}"


def has_leader(partition: Json) -> bool:
    """True if the leader of a described partition is in its ISR, a part of its replicas."""
    isr = partition["isr"]
    return partition["leader"] in isr and set(isr) <= set(partition["replicas"])
