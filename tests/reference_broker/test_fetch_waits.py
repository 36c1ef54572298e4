"""Events that end the wait of a Fetch, and others that do not."""

from __future__ import annotations

from harness.client.connection import Connection
from harness.codec.messages import DeleteTopicsRequest, FetchRequest
from tests.reference_broker.running import Address, create_topic
from tests.reference_broker.test_server import produce

LONG_MS = 30_000


def _fetch(names: list[str], max_wait_ms: int) -> FetchRequest:
    part = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    topics = [FetchRequest.FetchTopic(topic=name, partitions=[part]) for name in names]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1000, topics=topics)


def test_missing_partition_does_not_end_wait_for_other_partitions(address: Address) -> None:
    create_topic(address, "idle")
    with Connection(address, timeout_ms=LONG_MS / 2) as connection, Connection(address) as writer:
        connection.send(_fetch(["idle", "nowhere"], LONG_MS), 12)
        connection.expect_silence(for_ms=250)
        writer.ask(produce("idle"), 7)
        answer = connection.receive()
        codes = [t.partitions[0].error_code for t in answer.responses]  # type: ignore[attr-defined]
    assert codes == [0, 3]


def test_fetch_of_missing_partition_alone_returns_immediately(address: Address) -> None:
    with Connection(address, timeout_ms=LONG_MS / 2) as connection:
        answer = connection.ask(_fetch(["nowhere"], LONG_MS), 12)
    assert answer.responses[0].partitions[0].error_code == 3


def test_topic_deletion_ends_wait_of_fetch_beside_missing_topic(address: Address) -> None:
    create_topic(address, "going")
    with Connection(address, timeout_ms=LONG_MS / 2) as waiting, Connection(address) as other:
        waiting.send(_fetch(["going", "nowhere"], LONG_MS), 12)
        waiting.expect_silence(for_ms=50)
        names = [DeleteTopicsRequest.DeleteTopicState(name="going")]
        other.ask(DeleteTopicsRequest(topics=names, timeout_ms=5000), 6)
        answer = waiting.receive()
        codes = [t.partitions[0].error_code for t in answer.responses]  # type: ignore[attr-defined]
    assert codes == [3, 3]
