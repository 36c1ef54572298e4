"""kafka-python."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from kafka import (
    AsyncConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError

from harness.clients.vocabulary import (
    COOPERATIVE,
    EAGER,
    HEARTBEAT_MS,
    POLL_MS,
    POLL_RECORDS,
    READ_COMMITTED,
    REQUEST_S,
    SESSION_MS,
    ClientLacks,
    Json,
    bytes_of,
    record,
)

JOIN_MS, JOINED_MS = 5000, 1000
"""A join that is not done within one poll is begun anew in the next, so a poll has to be longer."""
ASSIGNORS = {EAGER: RangePartitionAssignor, COOPERATIVE: CooperativeStickyAssignor}


class KafkaPythonMember(NamedTuple):
    """A consumer in a group; ``listener``: None where nothing is committed."""

    consumer: Any
    topic: str
    listener: Committing | None


class KafkaPythonDriver:
    def __init__(self, bootstrap: str) -> None:
        self._shared: dict[str, Any] = {"bootstrap_servers": bootstrap, "retry_backoff_ms": 50}
        self._admin = KafkaAdminClient(**self._shared)
        self._members: dict[str, KafkaPythonMember] = {}

    def close(self) -> None:
        for member in self._members.values():
            member.consumer.close()
        self._admin.close()

    # -- topics --------------------------------------------------------------------------------

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        new = NewTopic(
            topic, num_partitions=partitions, replication_factor=1, topic_configs=configs
        )
        self._admin.create_topics([new])

    def list_topics(self) -> list[str]:
        return list(self._admin.list_topics())

    def describe_topic(self, topic: str) -> list[Json]:
        (found,) = self._admin.describe_topics([topic])
        return [
            {
                "partition": one["partition_index"],
                "leader": one["leader_id"],
                "replicas": one["replica_nodes"],
                "isr": one["isr_nodes"],
            }
            for one in found["partitions"]
        ]

    def describe_configs(self, topic: str) -> dict[str, str]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        found = self._admin.describe_configs([resource], config_filter="all")
        return {name: told["value"] for name, told in found["topic"][topic].items()}

    def alter_configs(self, topic: str, configs: dict[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs)
        _check(self._admin.alter_configs([resource])["topic"][topic])

    def create_partitions(self, topic: str, total: int) -> None:
        self._admin.create_partitions({topic: NewPartitions(total)})

    def delete_records(self, topic: str, before: list[list[int]]) -> list[list[int]]:
        asked = {TopicPartition(topic, partition): offset for partition, offset in before}
        found = self._admin.delete_records(asked)
        return [[one.partition, told["low_watermark"]] for one, told in found.items()]

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    # -- records -------------------------------------------------------------------------------

    def produce(
        self, topic: str, codec: str, records: list[Json], idempotent: bool | None = None
    ) -> list[list[int]]:
        settings = {} if idempotent is None else {"enable_idempotence": idempotent}
        codec_or_none = None if codec == "none" else codec
        producer = KafkaProducer(
            **self._shared, **settings, compression_type=codec_or_none, linger_ms=100
        )
        try:
            sends = [
                producer.send(
                    topic,
                    bytes_of(one["value"]),
                    bytes_of(one["key"]),
                    [(name, bytes_of(value)) for name, value in one["headers"]],
                    one["partition"],
                    one["timestamp_ms"],
                )
                for one in records
            ]
            done = [send.get(REQUEST_S) for send in sends]
            return [[each.partition, each.offset] for each in done]
        finally:
            producer.close()

    def transact(
        self, topic: str, transactional_id: str, partition: int, values: list[str], commits: bool
    ) -> list[list[int]]:
        producer = KafkaProducer(**self._shared, transactional_id=transactional_id)
        try:
            producer.init_transactions()
            producer.begin_transaction()
            sends = [producer.send(topic, bytes_of(one), partition=partition) for one in values]
            producer.flush(REQUEST_S)
            done = [send.get(REQUEST_S) for send in sends]
            (producer.commit_transaction if commits else producer.abort_transaction)()
            return [[each.partition, each.offset] for each in done]
        finally:
            producer.close()

    def _reader(self, **settings: Any) -> Any:
        return KafkaConsumer(**self._shared, **settings, enable_auto_commit=False)

    def read(
        self, topic: str, partition: int, offset: int, count: int, committed: bool = False
    ) -> list[Json]:
        reader = self._reader(**READ_COMMITTED) if committed else self._reader()
        try:
            at = TopicPartition(topic, partition)
            reader.assign([at])
            reader.seek(at, offset)
            return _take(reader, count)
        finally:
            reader.close()

    def offsets_for_times(self, topic: str, times: list[list[int]]) -> list[Any]:
        reader = self._reader()
        try:
            asked = {TopicPartition(topic, partition): at_ms for partition, at_ms in times}
            found = reader.offsets_for_times(asked)
            return [[one.partition, told and told.offset] for one, told in found.items()]
        finally:
            reader.close()

    def read_from_time(
        self, topic: str, partition: int, timestamp_ms: int, count: int
    ) -> list[Json]:
        reader = self._reader()
        try:
            at = TopicPartition(topic, partition)
            reader.assign([at])
            reader.seek(at, reader.offsets_for_times({at: timestamp_ms})[at].offset)
            return _take(reader, count)
        finally:
            reader.close()

    # -- groups --------------------------------------------------------------------------------

    def join(self, member: str, group: str, topic: str, strategy: str, commits: bool) -> None:
        if strategy not in ASSIGNORS:
            raise ClientLacks(f"no members of the protocol {strategy}")
        consumer = KafkaConsumer(
            **self._shared,
            client_id=member,
            group_id=group,
            partition_assignment_strategy=[ASSIGNORS[strategy]],
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            max_poll_records=POLL_RECORDS,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        listener = Committing(consumer) if commits else None
        consumer.subscribe([topic], listener=listener)
        self._members[member] = KafkaPythonMember(consumer, topic, listener)

    def poll(self, members: list[str]) -> list[Any]:
        # At the same time: a rebalance goes on in polls, of all members.
        with ThreadPoolExecutor(len(members)) as pool:
            found = list(pool.map(self._poll_one, members))
        return [
            [member, one] for member, all_of in zip(members, found, strict=True) for one in all_of
        ]

    def _poll_one(self, member: str) -> list[Json]:
        one = self._members[member]
        found = _polled(one.consumer, JOINED_MS if one.consumer.assignment() else JOIN_MS)
        if one.listener:
            one.listener.read(one.topic, found)
        return found

    def assignment(self, member: str) -> list[int]:
        return [each.partition for each in self._members[member].consumer.assignment()]

    def commit(self, member: str) -> None:
        self._members[member].consumer.commit()

    def leave(self, member: str) -> None:
        self._members.pop(member).consumer.close()

    def list_groups(self) -> list[str]:
        return [group["group_id"] for group in self._admin.list_groups()]

    def describe_group(self, group: str) -> Json:
        found = self._admin.describe_groups([group])[group]
        assert found["error"] is None, found["error"]
        return {
            "state": found["group_state"],
            "members": [[one["client_id"], _partitions(one)] for one in found["members"]],
        }

    def group_offsets(self, group: str) -> list[list[Any]]:
        found = self._admin.list_group_offsets({group: None})[group]
        return [[one.topic, one.partition, told.offset] for one, told in found.items()]

    def delete_group(self, group: str) -> None:
        _check(self._admin.delete_groups([group])[group])


class Committing(AsyncConsumerRebalanceListener):  # type: ignore[misc]
    """Commits what was read before it is given up.

    A listener that blocks may not commit. In a cooperative rebalance the client has forgotten the
    positions of what it gives up when it calls the listener, so they are kept here.
    """

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._next: dict[TopicPartition, OffsetAndMetadata] = {}

    def read(self, topic: str, records: Iterable[Json]) -> None:
        for one in records:
            at = TopicPartition(topic, one["partition"])
            self._next[at] = OffsetAndMetadata(one["offset"] + 1, "", -1)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        given_up = {at: self._next.pop(at) for at in revoked if at in self._next}
        if given_up:
            await self._consumer.commit_async(given_up)

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Nothing is kept of them here."""


def _check(result: str) -> None:
    """Some admin calls return the text of an error in place of raising it."""
    if result != "OK":
        raise KafkaError(result)


def _partitions(member: Json) -> list[int]:
    assigned = member["member_assignment"]
    return [each for one in assigned["assigned_partitions"] for each in one["partitions"]]


def _take(consumer: Any, count: int) -> list[Json]:
    found: list[Json] = []
    until_s = time.monotonic() + REQUEST_S
    while len(found) < count and time.monotonic() < until_s:
        found += _polled(consumer, POLL_MS)
    assert len(found) >= count, f"{len(found)} of {count} records came"
    return found[:count]


def _polled(consumer: Any, timeout_ms: int) -> list[Json]:
    return [
        record(one.partition, one.offset, one.timestamp, one.key, one.value, one.headers)
        for records in consumer.poll(timeout_ms).values()
        for one in records
    ]
