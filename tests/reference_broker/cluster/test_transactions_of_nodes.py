"""Transactions with the coordinator on one node and partitions led by others, over real sockets."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.ids import Offset, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ProduceRequest,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.topics.topic_names import TRANSACTION_STATE_TOPIC
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from tests.reference_broker.cluster.test_cluster_of_nodes import (
    PARTITIONS,
    Cluster,
    alike,
    play,
    until,
)
from tests.reference_broker.made_replicas import NOW
from tests.reference_broker.made_transactions import identity, markers

NAME, TIMEOUT_MS = "payments", 60_000
NOT_READY = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    }
)
COMPLETE = {True: TransactionState.COMPLETE_COMMIT, False: TransactionState.COMPLETE_ABORT}


class _Producer:
    """A producer of one transactional id, with what it was given last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.given = identity(-1, -1)

    async def coordinator(self) -> int:
        """Return the id of the coordinator, as any broker names it."""
        request = FindCoordinatorRequest(key=NAME, key_type=1)
        at = next(iter(self._cluster.brokers))
        while True:
            found = await self._cluster.ask(at, request, 3)
            if found.error_code == ErrorCode.NONE and found.node_id in self._cluster.brokers:
                return int(found.node_id)

    async def ask(self, request: Any, version: int) -> Any:
        """Send a request to the coordinator until it is ready."""
        while True:
            answer = await self._cluster.ask(await self.coordinator(), request, version)
            if answer.error_code not in NOT_READY:
                return answer

    async def init(self) -> None:
        request = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=TIMEOUT_MS)
        answer = await self.ask(request, 4)
        assert answer.error_code == ErrorCode.NONE
        self.given = identity(answer.producer_id, answer.producer_epoch)

    async def add(self, *partitions: int) -> ErrorCode:
        """Add partitions as clients of earlier transaction versions do."""
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
            name="t", partitions=list(partitions)
        )
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=NAME,
            v3_and_below_producer_id=self.given.producer_id,
            v3_and_below_producer_epoch=self.given.producer_epoch,
            v3_and_below_topics=[topic],
        )
        answer = await self._cluster.ask(await self.coordinator(), request, 3)
        (first, *_) = answer.results_by_topic_v3_and_below[0].results_by_partition
        return ErrorCode(first.partition_error_code)

    async def write(self, partition: int, version: int, sequence: int = 0) -> ErrorCode:
        """Produce a record to the leader; return the error."""
        batch = RecordBatch(
            [Record(b"x")],
            base_timestamp=NOW,
            attributes=TRANSACTIONAL,
            producer_id=self.given.producer_id,
            producer_epoch=self.given.producer_epoch,
            base_sequence=sequence,
        )
        data = ProduceRequest.PartitionProduceData(index=partition, records=encode_batch(batch))
        topic = ProduceRequest.TopicProduceData(name="t", partition_data=[data])
        request = ProduceRequest(
            transactional_id=NAME, acks=-1, timeout_ms=20_000, topic_data=[topic]
        )
        while True:
            leader = await until(lambda: self._cluster.leader(partition))
            answer = await self._cluster.ask(leader, request, version)
            code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
            if code not in NOT_READY:
                return code

    async def end(self, version: int, *, commits: bool) -> None:
        request = EndTxnRequest(
            transactional_id=NAME,
            producer_id=self.given.producer_id,
            producer_epoch=self.given.producer_epoch,
            committed=commits,
        )
        answer = await self.ask(request, version)
        assert answer.error_code == ErrorCode.NONE
        if answer.producer_id >= 0:
            self.given = identity(answer.producer_id, answer.producer_epoch)


def is_complete(cluster: Cluster, state: TransactionState) -> bool:
    """True if a coordinator knows that the transaction has ended so."""
    found = [
        node.state.transactions.find(NAME)
        for one in cluster.brokers.values()
        if (node := one.node) is not None
    ]
    return any(known is not None and known.state is state for known in found)


def marks(cluster: Cluster, number: int, index: int) -> list[tuple[int, int, bool]]:
    """Producer epoch, offset and direction of the markers in a broker's replica."""
    partition = cluster.partition(number, index)
    assert partition is not None
    return [(one.producer_epoch, one.offset, one.aborts) for one in markers(partition)]


@pytest.mark.parametrize("like", ["", "4.4.0", "3.9.2", "2.8.2"])
@pytest.mark.parametrize("commits", [True, False])
def test_markers_reach_all_replicas_and_followers_have_the_aborted_transactions(
    like: str, *, commits: bool
) -> None:
    """The partitions have three leaders; at most one of these coordinates."""

    async def scenario(cluster: Cluster) -> None:
        producer = _Producer(cluster)
        await producer.init()
        assert await producer.add(*range(PARTITIONS)) is ErrorCode.NONE
        for index in range(PARTITIONS):
            assert await producer.write(index, 9) is ErrorCode.NONE
        await producer.end(3, commits=commits)
        await until(lambda: is_complete(cluster, COMPLETE[commits]))
        for index in range(PARTITIONS):
            await until(lambda index=index: alike(cluster, index, 1, 2, 3))  # type: ignore[misc]
            for number in cluster.brokers:
                assert marks(cluster, number, index) == [(0, 1, not commits)]
                partition = cluster.partition(number, index)
                assert partition is not None
                aborted = partition.log.aborted_between(Offset(0), Offset(2))
                assert [one.first_offset for one in aborted] == ([] if commits else [0])

    play(scenario, like)


def test_records_add_their_partition_at_a_coordinator_on_another_broker() -> None:
    async def scenario(cluster: Cluster) -> None:
        producer = _Producer(cluster)
        await producer.init()
        for epoch in range(2):
            for index in range(PARTITIONS):
                assert await producer.write(index, 12) is ErrorCode.NONE
            await producer.end(5, commits=True)
            assert producer.given == identity(producer.given.producer_id, epoch + 1)
            await until(lambda: is_complete(cluster, TransactionState.COMPLETE_COMMIT))
        for index in range(PARTITIONS):
            leader = await until(lambda index=index: cluster.leader(index))  # type: ignore[misc]
            assert marks(cluster, leader, index) == [(1, 1, False), (2, 3, False)]

    play(scenario)


def test_records_for_a_partition_that_the_transaction_does_not_have_are_refused() -> None:
    async def scenario(cluster: Cluster) -> None:
        producer = _Producer(cluster)
        await producer.init()
        for index in range(PARTITIONS):
            assert await producer.write(index, 9) is ErrorCode.INVALID_TXN_STATE
            assert await producer.write(index, 11) is ErrorCode.TRANSACTION_ABORTABLE
        known, producer.given = producer.given, identity(producer.given.producer_id, 9)
        for index in range(PARTITIONS):
            assert await producer.write(index, 12) is ErrorCode.INVALID_PRODUCER_EPOCH
        producer.given = known
        assert isinstance(known, ProducerIdentity)
        assert not any(cluster.batches(number, 0) for number in cluster.brokers)

    play(scenario)


def test_a_new_coordinator_continues_an_open_transaction_and_ends_it() -> None:
    async def scenario(cluster: Cluster) -> None:
        producer = _Producer(cluster)
        await producer.init()
        assert await producer.add(0) is ErrorCode.NONE
        assert await producer.write(0, 9) is ErrorCode.NONE
        former = await producer.coordinator()
        node = cluster.brokers[former].node
        assert node is not None
        assert node.state.transactions.find(NAME) is not None
        await cluster.brokers.pop(former).close()
        await producer.end(4, commits=True)
        await until(lambda: is_complete(cluster, TransactionState.COMPLETE_COMMIT))
        leader = await until(lambda: cluster.leader(0))
        assert marks(cluster, leader, 0) == [(0, 1, False)]

    play(scenario)


def test_the_coordinator_alone_knows_the_transactional_id_and_followers_have_its_records() -> None:
    async def scenario(cluster: Cluster) -> None:
        producer = _Producer(cluster)
        await producer.init()
        former = await producer.coordinator()
        others = [number for number in cluster.brokers if number != former]
        node = cluster.brokers[former].node
        assert node is not None
        partition = node.state.transactions.log.partition_of(NAME)
        assert partition is not None
        for number in others:
            other = cluster.brokers[number].node
            assert other is not None
            assert other.state.transactions.find(NAME) is None
            topic = other.state.cluster.named(TRANSACTION_STATE_TOPIC)
            assert topic is not None
            follower = topic.partitions[PartitionIndex(partition.index)]
            await until(lambda follower=follower: follower.log.end_offset > 0)  # type: ignore[misc]

    play(scenario)
