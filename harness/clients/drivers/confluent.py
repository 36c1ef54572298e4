"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from harness.clients.vocabulary import (
    CONSUMER,
    COOPERATIVE,
    EAGER,
    HEARTBEAT_MS,
    POLL_MS,
    POLL_RECORDS,
    REQUEST_S,
    SESSION_MS,
    Json,
    bytes_of,
    record,
)

ASSIGNORS = {EAGER: "range", COOPERATIVE: "cooperative-sticky"}


class ConfluentDriver:
    def __init__(self, bootstrap: str) -> None:
        self._shared: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "broker.address.family": "v4",
            "topic.metadata.refresh.interval.ms": 500,
            "retry.backoff.ms": 50,
        }
        self._admin = AdminClient(self._shared)
        self._members: dict[str, Consumer] = {}

    def close(self) -> None:
        for member in self._members.values():
            member.close()

    # -- topics --------------------------------------------------------------------------------

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=configs)
        self._admin.create_topics([new])[topic].result(REQUEST_S)

    def list_topics(self) -> list[str]:
        return list(self._admin.list_topics(timeout=REQUEST_S).topics)

    def describe_topic(self, topic: str) -> list[Json]:
        asked = self._admin.describe_topics(TopicCollection([topic]))
        return [
            {
                "partition": one.id,
                "leader": one.leader.id,
                "replicas": [node.id for node in one.replicas],
                "isr": [node.id for node in one.isr],
            }
            for one in asked[topic].result(REQUEST_S).partitions
        ]

    def describe_configs(self, topic: str) -> dict[str, str]:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        found = self._admin.describe_configs([resource])[resource].result(REQUEST_S)
        return {name: entry.value for name, entry in found.items()}

    def alter_configs(self, topic: str, configs: dict[str, str]) -> None:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        self._admin.incremental_alter_configs([resource])[resource].result(REQUEST_S)

    def create_partitions(self, topic: str, total: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, total)])[topic].result(REQUEST_S)

    def delete_records(self, topic: str, before: list[list[int]]) -> list[list[int]]:
        asked = self._admin.delete_records(
            [TopicPartition(topic, each, offset) for each, offset in before]
        )
        return [
            [each.partition, found.result(REQUEST_S).low_watermark] for each, found in asked.items()
        ]

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(REQUEST_S)

    # -- records -------------------------------------------------------------------------------

    def produce(
        self, topic: str, codec: str, records: list[Json], idempotent: bool | None = None
    ) -> list[list[int]]:
        settings = {} if idempotent is None else {"enable.idempotence": idempotent}
        producer = Producer(
            {**self._shared, **settings, "compression.type": codec, "linger.ms": 100}
        )
        found: dict[int, list[int]] = {}
        problems: list[KafkaError] = []

        def send(number: int, one: Json) -> None:
            def delivered(problem: KafkaError | None, message: Message) -> None:
                if problem is not None:
                    problems.append(problem)
                else:
                    found[number] = [_int(message.partition()), _int(message.offset())]

            producer.produce(
                topic,
                bytes_of(one["value"]),
                bytes_of(one["key"]),
                one["partition"],
                timestamp=one["timestamp_ms"],
                headers=[(name, bytes_of(value)) for name, value in one["headers"]],
                on_delivery=delivered,
            )

        for number, one in enumerate(records):
            send(number, one)
        producer.flush(REQUEST_S)
        if problems:
            raise KafkaException(problems[0])
        return [found[number] for number in range(len(records))]

    def transact(
        self, topic: str, transactional_id: str, partition: int, values: list[str], commits: bool
    ) -> list[list[int]]:
        producer = Producer({**self._shared, "transactional.id": transactional_id})
        places: list[list[int]] = []
        problems: list[KafkaError] = []

        def delivered(problem: KafkaError | None, message: Message) -> None:
            if problem is not None:
                problems.append(problem)
            else:
                places.append([_int(message.partition()), _int(message.offset())])

        producer.init_transactions(REQUEST_S)
        producer.begin_transaction()
        for one in values:
            producer.produce(topic, bytes_of(one), partition=partition, on_delivery=delivered)
        producer.flush(REQUEST_S)
        if problems:
            raise KafkaException(problems[0])
        (producer.commit_transaction if commits else producer.abort_transaction)(REQUEST_S)
        return places

    def _reader(self, isolation: str = "read_uncommitted") -> Consumer:
        settings = {"group.id": "assigned", "enable.auto.commit": False}
        return Consumer({**self._shared, **settings, "isolation.level": isolation})

    def read(
        self, topic: str, partition: int, offset: int, count: int, committed: bool = False
    ) -> list[Json]:
        reader = self._reader("read_committed" if committed else "read_uncommitted")
        try:
            reader.assign([TopicPartition(topic, partition, offset)])
            return _take(reader, count)
        finally:
            reader.close()

    def offsets_for_times(self, topic: str, times: list[list[int]]) -> list[Any]:
        reader = self._reader()
        try:
            asked = [TopicPartition(topic, each, at_ms) for each, at_ms in times]
            found = reader.offsets_for_times(asked, REQUEST_S)
            return [[one.partition, one.offset if one.offset >= 0 else None] for one in found]
        finally:
            reader.close()

    def read_from_time(
        self, topic: str, partition: int, timestamp_ms: int, count: int
    ) -> list[Json]:
        reader = self._reader()
        try:
            reader.assign([TopicPartition(topic, partition, 0)])
            _take(reader, 1)  # it can seek where it reads, and nowhere else
            asked = [TopicPartition(topic, partition, timestamp_ms)]
            (found,) = reader.offsets_for_times(asked, REQUEST_S)
            reader.seek(found)
            return _take(reader, count)
        finally:
            reader.close()

    # -- groups --------------------------------------------------------------------------------

    def join(self, member: str, group: str, topic: str, strategy: str, commits: bool) -> None:
        consumer = Consumer(
            {
                **self._shared,
                "client.id": member,
                "group.id": group,
                **_of_strategy(strategy),
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )

        def revoked(which: Consumer, _: list[TopicPartition]) -> None:
            if commits:
                _commit(which)

        consumer.subscribe([topic], on_revoke=revoked)
        self._members[member] = consumer

    def poll(self, members: list[str]) -> list[Any]:
        found: list[Any] = []
        for member in members:
            until_s = time.monotonic() + POLL_MS / 1000
            polled = _polled(self._members[member], POLL_RECORDS, until_s)
            found += [[member, one] for one in polled]
        return found

    def assignment(self, member: str) -> list[int]:
        return [each.partition for each in self._members[member].assignment()]

    def commit(self, member: str) -> None:
        _commit(self._members[member])

    def leave(self, member: str) -> None:
        self._members.pop(member).close()

    def list_groups(self) -> list[str]:
        found = self._admin.list_consumer_groups().result(REQUEST_S)
        assert not found.errors, found.errors
        return [group.group_id for group in found.valid]

    def describe_group(self, group: str) -> Json:
        found = self._admin.describe_consumer_groups([group])[group].result(REQUEST_S)
        return {
            "state": found.state.name,
            "members": [
                [one.client_id, [each.partition for each in one.assignment.topic_partitions]]
                for one in found.members
            ],
        }

    def group_offsets(self, group: str) -> list[list[Any]]:
        asked = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        found = asked[group].result(REQUEST_S).topic_partitions
        return [[one.topic, one.partition, one.offset] for one in found]

    def delete_group(self, group: str) -> None:
        self._admin.delete_consumer_groups([group])[group].result(REQUEST_S)


def _of_strategy(strategy: str) -> dict[str, Any]:
    """The broker of a newer group decides about its times."""
    if strategy == CONSUMER:
        return {"group.protocol": "consumer"}
    return {
        "partition.assignment.strategy": ASSIGNORS[strategy],
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": HEARTBEAT_MS,
    }


def _commit(consumer: Consumer) -> None:
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as problem:
        if problem.args[0].code() != KafkaError._NO_OFFSET:  # nothing was read
            raise


def _int(value: int | None) -> int:
    assert value is not None
    return value


def _take(consumer: Consumer, count: int) -> list[Json]:
    found = list(_polled(consumer, count, time.monotonic() + REQUEST_S))
    assert len(found) == count, f"{len(found)} of {count} records came"
    return found


def _polled(consumer: Consumer, most: int, until_s: float) -> Iterator[Json]:
    for _ in range(most):
        message = None
        while message is None and (left_s := until_s - time.monotonic()) > 0:
            message = consumer.poll(left_s)
        if message is None:
            return
        if message.error() is not None:
            raise KafkaException(message.error())
        _, timestamp_ms = message.timestamp()
        yield record(
            _int(message.partition()),
            _int(message.offset()),
            timestamp_ms,
            message.key(),
            message.value(),
            cast("list[tuple[str, bytes | None]]", message.headers() or []),
        )
