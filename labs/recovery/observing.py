"""Data that a broker serves of a topic's partitions: ends, records, producers, epochs, times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeProducersRequest,
    FetchResponse,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
)
from labs.recovery.log_copy import batches_in

Outcome = dict[str, Any]
"""The observations of one case, by name; plain values that JSON can hold."""
TOGETHER = 50  # partitions in one request
MOST_READS = 200  # of one partition: damage may lead a reader in a circle
SERVED_MS = 60_000
READ_COMMITTED = 1
_NOT_YET = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_ID,
}


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """Requested offsets, times and epochs of one partition, in addition to all its records."""

    offsets: Sequence[int]
    times_ms: Sequence[int]
    epochs: Sequence[int]


class Observer:
    """Asks of all partitions at once what can be asked so."""

    def __init__(
        self, broker: BrokerUnderTest, topic: Topic, asked: Mapping[int, ReadQuestion]
    ) -> None:
        self._broker, self._topic, self._asked = broker, topic, asked
        self._seen: dict[int, Outcome] = {partition: {} for partition in asked}

    def observe(self) -> dict[int, Outcome]:
        """By partition. Raises BrokerMisbehaved: it does not answer as a broker does."""
        self._ends()
        self._times()
        self._epochs()
        self._producers()
        self._records("records", 0)
        self._records("committed", READ_COMMITTED)
        self._from_the_middle()
        return self._seen

    # -- offsets -------------------------------------------------------------------------------

    def _ends(self) -> None:
        """Where the logs begin and end, as soon as they are served."""
        latest: dict[int, Any] = {}

        def served() -> bool:
            latest.update(self._listed(dict.fromkeys(self._asked, LATEST)))
            return not any(each[0] in _NOT_YET for each in latest.values())

        self._broker.last_seen(served, bool, SERVED_MS)
        self._note("log end", latest)
        self._note("log start", self._listed(dict.fromkeys(self._asked, EARLIEST)))
        stable = self._listed(dict.fromkeys(self._asked, LATEST), READ_COMMITTED)
        self._note("stable", stable)

    def _times(self) -> None:
        self._note("max time", self._listed(dict.fromkeys(self._asked, MAX_TIMESTAMP)))
        rounds = max((len(each.times_ms) for each in self._asked.values()), default=0)
        for place in range(rounds):
            wanted = {
                partition: each.times_ms[place]
                for partition, each in self._asked.items()
                if place < len(each.times_ms)
            }
            for partition, found in self._listed(wanted).items():
                self._seen[partition].setdefault("times", []).append(found)

    def _listed(self, wanted: Mapping[int, int], isolation_level: int = 0) -> dict[int, list[int]]:
        """(error, offset, timestamp) by partition."""
        found = {}
        for some in _together(wanted):
            entry = ListOffsetsRequest.ListOffsetsTopic(
                name=self._topic.name,
                partitions=[
                    ListOffsetsRequest.ListOffsetsPartition(partition_index=one, timestamp=time)
                    for one, time in some
                ],
            )
            request = ListOffsetsRequest(
                replica_id=-1, isolation_level=isolation_level, topics=[entry]
            )
            version = self._broker.version("ListOffsets", "7-9")
            for each in only(self._broker.ask(request, version).topics, "topic").partitions:
                found[each.partition_index] = [each.error_code, each.offset, each.timestamp]
        return found

    def _note(self, name: str, found: Mapping[int, Any]) -> None:
        for partition, value in found.items():
            self._seen[partition][name] = value

    # -- epochs and producers ------------------------------------------------------------------

    def _epochs(self) -> None:
        """Where each epoch ended, as far as the checkpoint of epochs knows."""
        for epoch in sorted({one for each in self._asked.values() for one in each.epochs}):
            wanted = {
                partition: epoch for partition, each in self._asked.items() if epoch in each.epochs
            }
            for some in _together(wanted):
                for partition, found in self._ends_of_epoch(some):
                    self._seen[partition].setdefault("epochs", {})[str(epoch)] = found

    def _ends_of_epoch(self, some: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
        topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
            topic=self._topic.name,
            partitions=[
                OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
                    partition=partition, leader_epoch=epoch
                )
                for partition, epoch in some
            ],
        )
        request = OffsetForLeaderEpochRequest(topics=[topic])
        answer = self._broker.ask(request, self._broker.version("OffsetForLeaderEpoch", "3-4"))
        for each in only(answer.topics, "topic").partitions:
            yield each.partition, [each.error_code, each.leader_epoch, each.end_offset]

    def _producers(self) -> None:
        for some in _together(dict.fromkeys(self._asked, 0)):
            topic = DescribeProducersRequest.TopicRequest(
                name=self._topic.name, partition_indexes=[partition for partition, _ in some]
            )
            answer = self._broker.ask(DescribeProducersRequest(topics=[topic]), 0)
            for each in only(answer.topics, "topic").partitions:
                states = sorted(
                    [
                        one.producer_id,
                        one.producer_epoch,
                        one.last_sequence,
                        one.last_timestamp,
                        one.coordinator_epoch,
                        one.current_txn_start_offset,
                    ]
                    for one in each.active_producers
                )
                self._seen[each.partition_index]["producers"] = [each.error_code, states]

    # -- records -------------------------------------------------------------------------------

    def _records(self, name: str, isolation_level: int) -> None:
        """All bytes from the log's start on, read as a consumer reads: batch behind batch."""
        reads = {
            partition: ObservedPartition(self._seen[partition]["log start"][1])
            for partition in self._asked
            if self._seen[partition]["log start"][0] == ErrorCode.NONE
        }
        for _ in range(MOST_READS):
            wanted = {each: read.offset for each, read in reads.items() if not read.ended}
            if not wanted:
                break
            for partition, data in self._fetched(wanted, isolation_level).items():
                reads[partition].take(data)
        for partition, read in reads.items():
            self._seen[partition][name] = read.told()

    def _from_the_middle(self) -> None:
        """Fetch once from each requested offset on."""
        rounds = max((len(each.offsets) for each in self._asked.values()), default=0)
        for place in range(rounds):
            wanted = {
                partition: each.offsets[place]
                for partition, each in self._asked.items()
                if place < len(each.offsets)
            }
            for partition, data in self._fetched(wanted, 0).items():
                read = ObservedPartition(wanted[partition])
                read.take(data)
                self._seen[partition].setdefault("middle", []).append(read.told())

    def _fetched(
        self, wanted: Mapping[int, int], isolation_level: int
    ) -> dict[int, FetchResponse.PartitionData]:
        found = {}
        version = self._broker.version("Fetch", "12-15")
        for some in _together(wanted):
            parts = [fetch_partition(offset, partition=one) for one, offset in some]
            entry = fetch_topic(self._topic, version, parts)
            request = fetch_request([entry], isolation_level=isolation_level)
            topics = self._broker.ask(request, version).responses
            found.update({each.partition_index: each for each in only(topics, "topic").partitions})
        return found


class ObservedPartition:
    """One partition as it is read on, until its end, an error, or where there is no way on."""

    def __init__(self, offset: int) -> None:
        self.offset, self.ended = offset, False
        self._error, self._bytes = 0, 0
        self._digest = hashlib.sha256()
        self._aborted: set[tuple[int, int]] = set()

    def take(self, data: FetchResponse.PartitionData) -> None:
        records = data.records or b""
        self._digest.update(records)
        self._bytes += len(records)
        self._aborted.update(
            (one.producer_id, one.first_offset) for one in data.aborted_transactions or ()
        )
        self._error = data.error_code
        batches = batches_in(records)
        behind = batches[-1].last_offset + 1 if batches else self.offset
        self.ended = bool(data.error_code) or behind <= self.offset
        self.offset = max(self.offset, behind)

    def told(self) -> list[Any]:
        """Error, where reading ended, how many bytes, their digest, aborted transactions."""
        digest = self._digest.hexdigest()[:16]
        return [self._error, self.offset, self._bytes, digest, sorted(map(list, self._aborted))]


def _together(wanted: Mapping[int, int]) -> Iterator[Sequence[tuple[int, int]]]:
    pairs = list(wanted.items())
    for start in range(0, len(pairs), TOGETHER):
        yield pairs[start : start + TOGETHER]
