"""TXN: the coordinator of a transactional id, among several brokers (KIP-98)."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.coordinator import TRANSACTION, ask_for_coordinator, await_coordinator
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddOffsetsToTxnRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import committed_values, fetched
from suites.protocol.support.transactional import TxnProducer, codes_by_place

NAMES = 5
READ_COMMITTED = 1
Ask = Callable[[TxnProducer, Topic], int]
"""Send one request on the producer's connection and return the error."""


def _producer(cluster: Cluster, client_id: str) -> TxnProducer:
    """A transactional id of any coordinator, and its producer there."""
    name = cluster.unique_topic()
    node = await_coordinator(cluster.front, TRANSACTION, name)
    return TxnProducer(cluster.at(node), client_id, name=name)


def _expect_refused_elsewhere(cluster: Cluster, ask: Ask) -> None:
    """All other brokers return NOT_COORDINATOR; the open transaction then commits."""
    producer = _producer(cluster, "TXN-007")
    (node,) = [each for each in cluster.nodes if cluster.at(each) is producer.broker]
    topic = cluster.create_topic([[node]], {"min.insync.replicas": "1"})
    producer.write(topic, b"x")
    with requirement("TXN-007") as check:
        for other in cluster.others(node):
            with check.subtest(f"broker {other}"):
                code = ask(producer.through(cluster.at(other)), topic)
                expect_error(code, ErrorCode.NOT_COORDINATOR, f"broker {other}")
        with check.subtest("the coordinator"):
            answer = producer.end(commit=True)
            expect_error(answer.error_code, ErrorCode.NONE, "the coordinator")


@judges("TXN-007")
@at_versions("InitProducerId")
def test_init_producer_id_at_other_broker_than_coordinator_is_refused(
    cluster: Cluster, api_version: int
) -> None:
    """All others refuse a new producer, and the former one is not fenced."""

    def ask(producer: TxnProducer, _: Topic) -> int:
        return producer.connection.ask(producer.init_request(), api_version).error_code

    _expect_refused_elsewhere(cluster, ask)


@judges("TXN-007")
@at_versions("AddPartitionsToTxn", "0-2", "3")
def test_add_partitions_at_other_broker_than_coordinator_is_refused(
    cluster: Cluster, api_version: int
) -> None:
    """All others refuse the partition that the transaction has."""

    def ask(producer: TxnProducer, topic: Topic) -> int:
        request = producer.add_request({topic: [0]}, api_version)
        return codes_by_place(producer.connection.ask(request, api_version))[topic.name, 0]

    _expect_refused_elsewhere(cluster, ask)


@judges("TXN-007")
@at_versions("AddOffsetsToTxn", "0-2", "3+")
def test_add_offsets_at_other_broker_than_coordinator_is_refused(
    cluster: Cluster, api_version: int
) -> None:
    """All others refuse a group."""
    group = cluster.unique_group()

    def ask(producer: TxnProducer, _: Topic) -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=producer.name,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            group_id=group,
        )
        return producer.connection.ask(request, api_version).error_code

    _expect_refused_elsewhere(cluster, ask)


@judges("TXN-007")
@at_versions("EndTxn", "0-2", "3-4", "5+")
def test_end_txn_at_other_broker_than_coordinator_is_refused(
    cluster: Cluster, api_version: int
) -> None:
    """All others refuse an abort, and the transaction commits."""

    def ask(producer: TxnProducer, _: Topic) -> int:
        return producer.connection.ask(producer.end_request(commit=False), api_version).error_code

    _expect_refused_elsewhere(cluster, ask)


def _named(client: BrokerUnderTest, name: str, version: int) -> tuple[int, int]:
    found = ask_for_coordinator(client, name, TRANSACTION, version)
    return found.error_code, found.node


@judges("TXN-042")
@at_versions("FindCoordinator", "1-3", "4+")
def test_find_coordinator_names_same_broker_for_transactional_id_everywhere(
    cluster: Cluster, api_version: int
) -> None:
    """Several ids, at each broker, again after all ids have a producer at that coordinator."""
    names = [cluster.unique_topic() for _ in range(NAMES)]
    nodes = {name: await_coordinator(cluster.front, TRANSACTION, name) for name in names}
    expected = {name: (0, nodes[name]) for name in names}
    with requirement("TXN-042") as check:
        for node in cluster.nodes:
            with check.subtest(f"before the first producer, broker {node}"):
                found = {name: _named(cluster.at(node), name, api_version) for name in names}
                told = f"before, broker {node}: (error, coordinator) is {found}"
                assert found == expected, f"{told}, expected {expected}"
        producers = [TxnProducer(cluster.at(nodes[name]), "TXN-042", name=name) for name in names]
        assert len({one.id for one in producers}) == NAMES, "two ids share a producer id"
        for node in cluster.nodes:
            with check.subtest(f"behind the first producer, broker {node}"):
                found = {name: _named(cluster.at(node), name, api_version) for name in names}
                told = f"behind, broker {node}: (error, coordinator) is {found}"
                assert found == expected, f"{told}, expected {expected}"


@judges("TXN-021")
@at_versions("Fetch", "4-11", "12", "13+")
def test_transaction_over_several_brokers_is_committed_or_aborted_in_all(
    cluster: Cluster, api_version: int
) -> None:
    """A partition at each broker, in an aborted and then in a committed transaction."""
    producer = _producer(cluster, "TXN-021")
    topic = cluster.create_topic([[node] for node in cluster.nodes], {"min.insync.replicas": "1"})
    partitions = range(len(cluster.nodes))
    leaders = [producer.through(cluster.at(node)) for node in cluster.nodes]
    for commit, value in ((False, b"aborted"), (True, b"committed")):
        producer.begin({topic: list(partitions)})
        for at, one in enumerate(leaders):
            one.write(topic, value, partition=at)
        code = producer.end(commit=commit).error_code
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"EndTxn: {ErrorCode.describe(code)}", code)
    with requirement("TXN-021") as check:
        for at, one in enumerate(leaders):
            with check.subtest(f"partition {at}"):
                answer = cluster.last_seen(
                    lambda at=at, one=one: fetched(  # type: ignore[misc]
                        one, topic, api_version, READ_COMMITTED, partition=at
                    ),
                    lambda answer: answer.last_stable_offset == 4,
                )
                found = committed_values(answer)
                told = f"partition {at}: the values are {found}, expected committed alone"
                assert found == [b"committed"], told
