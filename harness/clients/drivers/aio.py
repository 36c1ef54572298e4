"""aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import (  # type: ignore[import-untyped]
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    TopicPartition,
)
from aiokafka.admin import (  # type: ignore[import-untyped]
    AIOKafkaAdminClient,
    NewPartitions,
    NewTopic,
    RecordsToDelete,
)
from aiokafka.admin.config_resource import (  # type: ignore[import-untyped]
    ConfigResource,
    ConfigResourceType,
)
from aiokafka.coordinator.assignors.range import (  # type: ignore[import-untyped]
    RangePartitionAssignor,
)
from aiokafka.coordinator.protocol import (  # type: ignore[import-untyped]
    ConsumerProtocolMemberAssignment,
)
from aiokafka.errors import for_code  # type: ignore[import-untyped]

from harness.clients.vocabulary import (
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

ASSIGNORS = {EAGER: RangePartitionAssignor}


class AioDriver:
    def __init__(self, bootstrap: str) -> None:
        self._shared: dict[str, Any] = {"bootstrap_servers": bootstrap, "retry_backoff_ms": 50}
        self._members: dict[str, Any] = {}

    async def close(self) -> None:
        for member in self._members.values():
            await member.stop()

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[Any]:
        admin = AIOKafkaAdminClient(**self._shared)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    @asynccontextmanager
    async def _reader(self, **settings: Any) -> AsyncIterator[Any]:
        reader = AIOKafkaConsumer(**self._shared, **settings, enable_auto_commit=False)
        await reader.start()
        try:
            yield reader
        finally:
            await reader.stop()

    # -- topics: the client hands over the broker's answers, errors among them -----------------

    async def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        async with self._admin() as admin:
            new = NewTopic(topic, partitions, 1, topic_configs=configs)
            answer = await admin.create_topics([new])
            _check(one[1] for one in answer.topic_errors)

    async def list_topics(self) -> list[str]:
        async with self._admin() as admin:
            found: list[str] = await admin.list_topics()
            return found

    async def describe_topic(self, topic: str) -> list[Json]:
        async with self._admin() as admin:
            (found,) = await admin.describe_topics([topic])
        _check([found["error_code"], *(one["error_code"] for one in found["partitions"])])
        names = ("partition", "leader", "replicas", "isr")
        return [{name: one[name] for name in names} for one in found["partitions"]]

    async def describe_configs(self, topic: str) -> dict[str, str]:
        async with self._admin() as admin:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic)
            (answer,) = await admin.describe_configs([resource])
        ((error, _, _, _, entries),) = answer.resources
        _check([error])
        return {entry[0]: entry[1] for entry in entries}

    async def alter_configs(self, topic: str, configs: dict[str, str]) -> None:
        async with self._admin() as admin:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs)
            (answer,) = await admin.alter_configs([resource])
        _check(one[0] for one in answer.resources)

    async def create_partitions(self, topic: str, total: int) -> None:
        async with self._admin() as admin:
            answer = await admin.create_partitions({topic: NewPartitions(total)})
        _check(one[1] for one in answer.topic_errors)

    async def delete_records(self, topic: str, before: list[list[int]]) -> list[list[int]]:
        asked = {TopicPartition(topic, each): RecordsToDelete(offset) for each, offset in before}
        async with self._admin() as admin:
            found = await admin.delete_records(asked)
        return [[one.partition, offset] for one, offset in found.items()]

    async def delete_topic(self, topic: str) -> None:
        async with self._admin() as admin:
            answer = await admin.delete_topics([topic])
        _check(one[1] for one in answer.topic_error_codes)

    # -- records -------------------------------------------------------------------------------

    async def produce(
        self, topic: str, codec: str, records: list[Json], idempotent: bool | None = None
    ) -> list[list[int]]:
        settings = {} if idempotent is None else {"enable_idempotence": idempotent}
        kind = None if codec == "none" else codec
        producer = AIOKafkaProducer(
            **self._shared, **settings, compression_type=kind, linger_ms=100
        )
        await producer.start()
        try:
            sends = [
                await producer.send(
                    topic,
                    bytes_of(one["value"]),
                    bytes_of(one["key"]),
                    one["partition"],
                    one["timestamp_ms"],
                    [(name, bytes_of(value)) for name, value in one["headers"]],
                )
                for one in records
            ]
            done = await asyncio.wait_for(asyncio.gather(*sends), REQUEST_S)
            return [[each.partition, each.offset] for each in done]
        finally:
            await producer.stop()

    async def transact(
        self, topic: str, transactional_id: str, partition: int, values: list[str], commits: bool
    ) -> list[list[int]]:
        producer = AIOKafkaProducer(**self._shared, transactional_id=transactional_id)
        await producer.start()
        try:
            await producer.begin_transaction()
            sends = [await producer.send(topic, bytes_of(one), None, partition) for one in values]
            await producer.flush()
            done = await asyncio.wait_for(asyncio.gather(*sends), REQUEST_S)
            await (producer.commit_transaction if commits else producer.abort_transaction)()
            return [[each.partition, each.offset] for each in done]
        finally:
            await producer.stop()

    async def read(
        self, topic: str, partition: int, offset: int, count: int, committed: bool = False
    ) -> list[Json]:
        async with self._reader(**READ_COMMITTED if committed else {}) as reader:
            at = TopicPartition(topic, partition)
            reader.assign([at])
            reader.seek(at, offset)
            return await _take(reader, count)

    async def offsets_for_times(self, topic: str, times: list[list[int]]) -> list[Any]:
        async with self._reader() as reader:
            asked = {TopicPartition(topic, partition): at_ms for partition, at_ms in times}
            found = await reader.offsets_for_times(asked)
        return [[one.partition, told and told.offset] for one, told in found.items()]

    async def read_from_time(
        self, topic: str, partition: int, timestamp_ms: int, count: int
    ) -> list[Json]:
        async with self._reader() as reader:
            at = TopicPartition(topic, partition)
            reader.assign([at])
            found = await reader.offsets_for_times({at: timestamp_ms})
            reader.seek(at, found[at].offset)
            return await _take(reader, count)

    # -- groups --------------------------------------------------------------------------------

    async def join(self, member: str, group: str, topic: str, strategy: str, commits: bool) -> None:
        if strategy not in ASSIGNORS:
            raise ClientLacks(f"no members of the protocol {strategy}")
        consumer = AIOKafkaConsumer(
            **self._shared,
            client_id=member,
            group_id=group,
            partition_assignment_strategy=[ASSIGNORS[strategy]],
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        consumer.subscribe([topic], listener=AioCommitting(consumer) if commits else None)
        self._members[member] = consumer
        await consumer.start()

    async def poll(self, members: list[str]) -> list[Any]:
        polls = [_polled(self._members[member], POLL_RECORDS) for member in members]
        found = await asyncio.gather(*polls)
        return [
            [member, one] for member, all_of in zip(members, found, strict=True) for one in all_of
        ]

    async def assignment(self, member: str) -> list[int]:
        return [each.partition for each in self._members[member].assignment()]

    async def commit(self, member: str) -> None:
        await self._members[member].commit()

    async def leave(self, member: str) -> None:
        await self._members.pop(member).stop()

    async def list_groups(self) -> list[str]:
        async with self._admin() as admin:
            return [group for group, _ in await admin.list_consumer_groups()]

    async def describe_group(self, group: str) -> Json:
        async with self._admin() as admin:
            (answer,) = await admin.describe_consumer_groups([group])
        ((error, _, state, _, _, members, *_),) = answer.groups
        _check([error])
        return {"state": state, "members": [[one[1], _partitions(one[-1])] for one in members]}

    async def group_offsets(self, group: str) -> list[list[Any]]:
        async with self._admin() as admin:
            found = await admin.list_consumer_group_offsets(group)
        return [[one.topic, one.partition, told.offset] for one, told in found.items()]


class AioCommitting(ConsumerRebalanceListener):  # type: ignore[misc]
    """Commits what was read before it is given up."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Any) -> None:
        if revoked:
            await self._consumer.commit()

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Nothing is kept of them here."""


def _check(errors: Iterable[int]) -> None:
    for error in errors:
        if error:
            raise for_code(error)


def _partitions(assignment: bytes) -> list[int]:
    found = ConsumerProtocolMemberAssignment.decode(assignment)
    return [each for _, partitions in found.assignment for each in partitions]


async def _take(consumer: Any, count: int) -> list[Json]:
    found: list[Json] = []
    async with asyncio.timeout(REQUEST_S):
        while len(found) < count:
            found += await _polled(consumer, count - len(found))
    return found


async def _polled(consumer: Any, most: int) -> list[Json]:
    found = await consumer.getmany(timeout_ms=POLL_MS, max_records=most)
    return [
        record(one.partition, one.offset, one.timestamp, one.key, one.value, one.headers)
        for records in found.values()
        for one in records
    ]
