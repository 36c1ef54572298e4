"""TXN: transactions outlive the brokers of their coordinator and of their partitions (KIP-98)."""

from __future__ import annotations

import pytest

from harness.client.cluster import Cluster
from harness.client.coordinator import TRANSACTION, ask_for_coordinator, await_coordinator
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    committed_values,
    fetched,
    markers_of,
    stable_offset,
)
from suites.protocol.support.transactional import EXPIRING, FAR_AHEAD, NOT_READY, TxnProducer
from suites.replication.support.cutting import linked_cluster
from suites.replication.support.failover import bring_back, lose_leader

ONE_REPLICA = {"min.insync.replicas": "1"}
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS
TIMEOUT_MS = 600_000
LATE_MS = 60_000
BOTH = pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])


def _producer(cluster: Cluster, client_id: str, name: str | None = None) -> TxnProducer:
    """The producer of a new transactional id, at its coordinator, which may move meanwhile."""
    new = cluster.unique_topic() if name is None else name

    def made() -> list[TxnProducer]:
        client = cluster.at(await_coordinator(cluster.front, TRANSACTION, new))
        try:
            return [TxnProducer(client, client_id, name=new, timeout_ms=TIMEOUT_MS)]
        except PreparationFailed as failed:
            if failed.error_code != ErrorCode.NOT_COORDINATOR:
                raise
            return []

    (producer,) = cluster.await_that(made, bool, f"{new} has a producer", LATE_MS)
    return producer


def _node(cluster: Cluster, producer: TxnProducer) -> int:
    """The broker that the producer is connected to."""
    (node,) = [each for each in cluster.nodes if cluster.at(each) is producer.broker]
    return node


def _another_at(cluster: Cluster, producer: TxnProducer) -> TxnProducer:
    """The producer of another id with the same coordinator."""
    node = _node(cluster, producer)
    name = cluster.await_that(
        cluster.unique_topic,
        lambda name: ask_for_coordinator(cluster.front, name, TRANSACTION).node == node,
        f"broker {node} coordinates a transactional id",
    )
    return _producer(cluster, producer.client_id, name)


def _added(producer: TxnProducer, topic: Topic) -> int:
    """The error of one AddPartitionsToTxn, as it comes."""
    version = producer.version("AddPartitionsToTxn")
    answer = producer.connection.ask(producer.add_request({topic: [0]}, version), version)
    (found,) = answer.results_by_topic_v3_and_below
    (partition,) = found.results_by_partition
    return partition.partition_error_code


@judges("TXN-010")
@linked_cluster()
@BOTH
def test_add_partitions_before_all_markers_are_written_returns_concurrent_transactions(
    cluster: Cluster, commit: bool
) -> None:
    """The coordinator does not reach the leader of a partition, so that its marker is missing.

    The next transaction begins when the marker is written.
    """
    producer = _producer(cluster, "TXN-010")
    node = _node(cluster, producer)
    away = cluster.others(node)[0]
    topic, near = (cluster.create_topic([[at]], ONE_REPLICA) for at in (away, node))
    producer.begin({topic: [0]})
    leader = producer.through(cluster.at(away))
    leader.write(topic, b"x")
    cluster.links[node, away].cut()
    with requirement("TXN-010"):
        expect_error(producer.end(commit=commit).error_code, ErrorCode.NONE, "EndTxn")
        first, second = _added(producer, near), _added(producer, topic)
        markers = markers_of(leader, topic)
        expect_error(first, CONCURRENT, "a partition with the coordinator")
        expect_error(second, CONCURRENT, "the partition without a marker")
        assert markers == [], f"the markers are {markers} behind a link that is cut"
        cluster.links[node, away].heal()
        markers = cluster.last_seen(lambda: markers_of(leader, topic), bool, LATE_MS)
        told = "the link is healed, and the coordinator gets no request"
        assert markers == [(1, commit)], f"{told}: the markers (offset, is a commit) are {markers}"
        code = cluster.last_seen(
            lambda: _added(producer, near), lambda code: code == ErrorCode.NONE, LATE_MS
        )
        expect_error(code, ErrorCode.NONE, "the link is healed")
        found = markers_of(leader, topic)
        assert found == markers, f"the markers (offset, is a commit) are {found}"


def _at_new_coordinator(cluster: Cluster, producer: TxnProducer, former: int) -> TxnProducer:
    """The same producer, connected to the coordinator after the former one."""
    node = cluster.await_that(
        lambda: ask_for_coordinator(cluster.front, producer.name, TRANSACTION).node,
        lambda node: node in set(cluster.up) - {former},
        f"{producer.name} has another coordinator than {former}",
    )
    return producer.through(cluster.at(node))


@judges("TXN-027")
@linked_cluster()
@BOTH
def test_new_coordinator_completes_prepared_and_continues_open_transaction(
    cluster: Cluster, commit: bool
) -> None:
    """The former coordinator does not reach a leader, so that the prepared one lacks its marker.

    Its end stays as it was acknowledged. The open one gets another partition and commits.
    """
    prepared = _producer(cluster, "TXN-027")
    former, open_ = _node(cluster, prepared), _another_at(cluster, prepared)
    away, stays = cluster.others(former)[:2]
    topic, other = (cluster.create_topic([[at]], ONE_REPLICA) for at in (away, stays))
    for producer, place, at in ((prepared, topic, away), (open_, other, stays)):
        producer.begin({place: [0]})
        producer.through(cluster.at(at)).write(place, b"before")
    cluster.links[former, away].cut()
    code = prepared.end(commit=commit).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"EndTxn: {ErrorCode.describe(code)}", code)
    reader = prepared.through(cluster.at(away))
    if markers := markers_of(reader, topic):
        raise PreparationFailed(f"the markers are {markers} behind a link that is cut")
    cluster.kill(former)
    with requirement("TXN-027"):
        markers = cluster.last_seen(lambda: markers_of(reader, topic), bool, LATE_MS)
        assert markers == [(1, commit)], f"the prepared one: the markers are {markers}"
        now = _at_new_coordinator(cluster, open_, former)
        found = cluster.last_seen(
            lambda: now.add({topic: [0]}, now.version("AddPartitionsToTxn")),
            lambda codes: not set(codes.values()) & NOT_READY,
            LATE_MS,
        )
        expect_error(found[topic.name, 0], ErrorCode.NONE, "the open one, another partition")
        now.partitions.add((topic, 0))
        open_.through(cluster.leader_client(topic)).write(topic, b"behind")
        open_.through(cluster.leader_client(other)).write(other, b"behind")
        code = now.end(commit=True).error_code
        expect_error(code, ErrorCode.NONE, "the open one, the commit")
        reader = open_.through(cluster.leader_client(other))
        stable = cluster.last_seen(lambda: stable_offset(reader, other), lambda at: at == 3)
        assert stable == 3, f"the open one: the last stable offset is {stable}, expected 3"
        version = reader.broker.reading_version(other)
        values = committed_values(fetched(reader, other, version, READ_COMMITTED))
        assert values == [b"before", b"behind"], f"the open one: the values are {values}"


def _refused(producer: TxnProducer, topic: Topic, partition: int) -> int:
    """The error of an epoch that no producer has, as the coordinator is loaded: it begins none."""
    raised = producer.other(epoch=producer.epoch + FAR_AHEAD)
    version = producer.version("AddPartitionsToTxn")
    return raised.add({topic: [partition]}, version)[topic.name, partition]


@judges("TXN-073")
@needs_broker(Use.CLUSTER, EXPIRING)
def test_expired_transactional_id_is_unknown_to_next_coordinator(cluster: Cluster) -> None:
    """It has committed before; another id of the same coordinator is in a transaction all the
    time."""
    topic, active = cluster.create_topic([cluster.nodes[:3]] * 2), _producer(cluster, "TXN-073")
    active.begin({topic: [0]})
    former, idle = _node(cluster, active), _another_at(cluster, active)
    idle.begin({topic: [0]})
    code = idle.end(commit=True).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"EndTxn: {ErrorCode.describe(code)}", code)
    unmapped = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    cluster.await_that(
        lambda: _refused(idle, topic, 0), unmapped.__eq__, "an idle id expires", LATE_MS
    )
    cluster.kill(former)
    with requirement("TXN-073"):
        now = _at_new_coordinator(cluster, idle, former)
        code = cluster.last_seen(
            lambda: _refused(now, topic, 1), lambda code: code not in NOT_READY, LATE_MS
        )
        expect_error(code, unmapped, "the expired id")
        now = _at_new_coordinator(cluster, active, former)
        code = cluster.last_seen(
            lambda: now.end(commit=True).error_code, lambda code: code not in NOT_READY, LATE_MS
        )
        expect_error(code, ErrorCode.NONE, "the commit of the other id")


@judges("TXN-028")
@needs_broker(Use.CLUSTER)
def test_new_leader_has_last_stable_offset_and_aborted_transactions_of_former_one(
    cluster: Cluster,
) -> None:
    """Two aborted transactions, a committed and an open one; read from each offset.

    The same after the former leader is back, and after the open one has ended.
    """
    topic = cluster.create_topic()
    ended, open_ = (_producer(cluster, "TXN-028") for _ in range(2))
    leader = cluster.leader_client(topic)
    for commit, producer in ((False, ended), (True, ended), (False, ended)):
        producer.begin({topic: [0]})
        producer.through(leader).write(topic, b"x")
        end = leader.end_offset(topic)
        producer.end(commit=commit)
        cluster.await_that(lambda: leader.end_offset(topic), end.__lt__, "the marker is written")
    append(leader, topic, batch_of(b"plain"))
    open_.begin({topic: [0]})
    open_.through(leader).write(topic, b"open")
    append(leader, topic, batch_of(b"behind"))
    before = _read(cluster, ended, topic)
    if before[0][:2] != (7, [(ended.id, 0), (ended.id, 4)]):
        raise PreparationFailed(f"the log has two aborted transactions and an open one: {before}")
    with requirement("TXN-028"):
        former, _ = lose_leader(cluster, topic)
        found = cluster.last_seen(lambda: _read(cluster, ended, topic), before.__eq__)
        assert found == before, f"the new leader: {found}, the former one had {before}"
        bring_back(cluster, topic, former)
        found = _read(cluster, ended, topic)
        assert found == before, f"the former leader is back: {found}, before {before}"


Read = tuple[int, list[tuple[int, int]], list[bytes | None]]


def _read(cluster: Cluster, producer: TxnProducer, topic: Topic) -> list[Read]:
    """LSO, aborted transactions and values of a read from each offset up to the LSO."""
    reader = producer.through(cluster.leader_client(topic))
    version = reader.broker.reading_version(topic)
    answers = [
        fetched(reader, topic, version, READ_COMMITTED, offset=offset) for offset in range(8)
    ]
    return [
        (one.last_stable_offset, sorted(aborted_in(one) or []), committed_values(one))
        for one in answers
    ]
