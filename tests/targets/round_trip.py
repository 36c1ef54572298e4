"""A record written to a real Kafka of any release and read again, in the ways that all speak."""

import time
from collections.abc import Callable
from typing import TypeVar

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Record
from harness.targets.kafka.release import release_key
from harness.targets.target import Target
from labs.awaiting import await_right

T = TypeVar("T")
TIMEOUT_MS = 60_000
ANSWER_MARGIN_MS = 5_000
MAGIC_2_SINCE = "0.11"
NOT_YET = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.NOT_ENOUGH_REPLICAS,  # nothing was appended
}

APPENDED_PERHAPS = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,  # a follower was too slow
}


def eventually(ask: Callable[[], T | None], what: str) -> T:
    """Ask until the answer is not None."""
    answer = await_right(ask, lambda found: found is not None, what)
    assert answer is not None
    return answer


class Talk:
    """Produce and fetch on partition 0 of topics that the broker makes by itself."""

    def __init__(self, target: Target) -> None:
        self.target = target
        old = release_key(target.release) < release_key(MAGIC_2_SINCE)
        self.produce_version, self.fetch_version = (0, 0) if old else (3, 4)

    def leader_of(self, topic: str, address: Address) -> Address | None:
        """The present leader, as one broker names it; None without one. Creates the topic."""
        wanted = [MetadataRequest.MetadataRequestTopic(name=topic)]
        with Connection(address) as connection:
            answer = connection.ask(MetadataRequest(topics=wanted), 0)
        brokers = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        partitions = answer.topics[0].partitions
        return brokers.get(partitions[0].leader_id) if partitions else None

    def write(self, topic: str, value: bytes, ask: Address) -> None:
        """Append one record with acks=-1, as soon as the partition is served."""
        eventually(lambda: self._write(topic, value, ask), f"{value!r} is written to {topic}")

    def _write(self, topic: str, value: bytes, ask: Address) -> bool | None:
        leader = self.leader_of(topic, ask)
        if leader is None:
            return None
        error = self.append(topic, value, leader)
        if error in APPENDED_PERHAPS:
            self._await_value(topic, value, ask)
            return True
        assert error in NOT_YET or error is ErrorCode.NONE, error
        return True if error is ErrorCode.NONE else None

    def _await_value(self, topic: str, value: bytes, ask: Address) -> None:
        """Wait until an appended record can be read: its replication was not confirmed."""
        what = f"{value!r}, whose write was not confirmed, is read from {topic}"
        eventually(lambda: value in (self.values(topic, ask) or ()) or None, what)

    def append(
        self, topic: str, value: bytes, leader: Address, timeout_ms: int = 10_000
    ) -> ErrorCode:
        """Ask one broker to append a record with acks=-1; it has so long for the replicas."""
        request = produce_request(
            Topic(topic), self._batch(value), self.produce_version, timeout_ms=timeout_ms
        )
        with Connection(leader, timeout_ms=timeout_ms + ANSWER_MARGIN_MS) as connection:
            answer = connection.ask(request, self.produce_version)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    def _batch(self, value: bytes) -> bytes:
        if self.produce_version == 0:
            return encode_message_set([LegacyMessage(value, magic=0)])
        now_ms = int(time.time() * 1000)
        return encode_batch(RecordBatch([Record(value)], base_timestamp=now_ms))

    def values(self, topic: str, ask: Address) -> list[bytes | None] | None:
        """All values in the partition; None while no broker serves it."""
        leader = self.leader_of(topic, ask)
        if leader is None:
            return None
        wanted = fetch_topic(Topic(topic), self.fetch_version, [fetch_partition(0)])
        with Connection(leader) as connection:
            answer = connection.ask(fetch_request([wanted]), self.fetch_version)
        partition = answer.responses[0].partitions[0]
        if partition.error_code in NOT_YET:
            return None
        assert partition.error_code == ErrorCode.NONE
        read = read_records(partition.records or b"", limit_bytes=1 << 20)
        return [record.value for batch in read.batches for record in batch.records]

    def await_values(self, topic: str, values: list[bytes], ask: Address) -> None:
        """Wait until the partition holds exactly these."""

        def there() -> bool | None:
            return True if self.values(topic, ask) == values else None

        eventually(there, f"{topic} holds {values}")


def round_trip(target: Target, topic: str = "round-trip") -> None:
    """Write by every broker of a started Kafka, and read the same by every one.

    ``topic``: the name of a new topic.
    """
    talk = Talk(target)
    written: list[bytes] = []
    for address in target.addresses:
        written.append(f"by {address}".encode())
        talk.write(topic, written[-1], address)
    for address in target.addresses:
        talk.await_values(topic, written, address)
