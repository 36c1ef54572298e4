"""A real cluster that knows its brokers by their proxies alone.

The brokers reach their controller through a proxy. So their registrations, and the records that
they read from the metadata log, pass a rewriter, and Kafka checks the lengths and checksums.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.data_framing import CLUSTER_METADATA, MetadataRecord
from harness.codec.messages import CreateTopicsRequest, MetadataRequest, RegisterBrokerRecord
from harness.codec.records import CONTROL, decode_batches
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.targets.kafka.target import KafkaTarget
from harness.targets.ports import free_ports
from tests.reference_broker import test_clients as clients
from tests.targets import kinds
from tests.targets.round_trip import eventually

BROKERS, CONTROLLER = "brokers", "controller"
NODES = 3  # ports: a listener for clients of each, the controller's, one for brokers of each


class Clusters:
    """Proxies for each view that receives the address of a controller or of a broker listener."""

    def __init__(self, net: RunningProxies, ports: list[int]) -> None:
        self.net = net
        self.clients, self.internal = set(ports[:NODES]), set(ports[NODES + 1 :])
        self.controller = ("127.0.0.1", ports[NODES])
        self.rewriter = AddressRewriter(AddressBook(self.make))
        self.made: dict[tuple[str, int], Proxy] = {}  # view and upstream port

    def make(self, view: str, node: tuple[str, int]) -> Address | None:
        if node[1] in self.clients:
            return None
        destination = CONTROLLER if node == self.controller else f"port {node[1]}"
        proxy = Proxy(
            str(Address(*node)),
            node,
            source=view,
            destination=destination,
            rewriter=self.rewriter,
        )
        self.made[view, node[1]] = proxy
        return self.net.add_now(proxy)


@pytest.mark.kafka
@pytest.mark.deep
def test_registrations_and_metadata_records_pass_through_a_rewriter(tmp_path: Path) -> None:
    kinds.need_kafka(kinds.KAFKA)
    ports = free_ports(2 * NODES + 1)
    with RunningProxies() as net:
        cluster = Clusters(net, ports)
        voter = net.call(cluster.rewriter.book.address_for, BROKERS, *cluster.controller)
        assert voter is not None
        target = KafkaTarget(
            kinds.KAFKA,
            nodes=NODES,
            log_dir=tmp_path,
            settings={"controller.quorum.voters": f"100@{voter[0]}:{voter[1]}"},
            choose_ports=lambda count: ports[:count],
        )
        with target:
            first = target.addresses[0]
            _replicated_topic(first)
            clients.confluent_produce(first, "replicated", "none")  # idempotent, so acks=all
            found = clients.confluent_consume(first, "replicated")
            assert [record[0] for record in found] == list(range(clients.RECORDS))
            for node in target.nodes:
                _check_log(target, node, cluster)
            _check_traffic(cluster)


def _check_log(target: KafkaTarget, node: int, cluster: Clusters) -> None:
    """A broker's metadata log has proxies as the addresses of the other brokers."""
    (folder,) = target.log_directories(node)
    log = (folder / "__cluster_metadata-0" / f"{0:020}.log").read_bytes()
    internal = []
    for batch in decode_batches(log.rstrip(b"\0")):
        for record in batch.records:
            if not batch.attributes & CONTROL:
                found = CLUSTER_METADATA.read(record.value or b"")
                assert isinstance(found, MetadataRecord)
                if isinstance(found.message, RegisterBrokerRecord):
                    points = found.message.end_points
                    internal += [one.port for one in points if one.name == "INTERNAL"]
    proxies = {cluster.made[BROKERS, port].listen.port for port in cluster.internal}
    assert set(internal) == proxies


def _check_traffic(cluster: Clusters) -> None:
    replication = [cluster.made[BROKERS, port] for port in cluster.internal]
    assert sum(proxy.counters.accepted > 0 for proxy in replication) >= 1
    assert [proxy.errors for proxy in cluster.net.proxies if proxy.errors] == []
    assert {view for view, _ in cluster.made} == {BROKERS, CONTROLLER}
    assert set(cluster.rewriter.counters) == {"rewritten", "addresses"}


def _replicated_topic(address: tuple[str, int]) -> None:
    topic = CreateTopicsRequest.CreatableTopic(
        name="replicated", num_partitions=1, replication_factor=NODES
    )
    with Connection(address) as connection:
        made = connection.ask(CreateTopicsRequest(topics=[topic]), 7)
    assert made.topics[0].error_code == 0, made
    wanted = [MetadataRequest.MetadataRequestTopic(name="replicated")]

    def whole() -> bool | None:
        with Connection(address) as connection:
            answer = connection.ask(MetadataRequest(topics=wanted), 12)
        partitions = answer.topics[0].partitions
        return True if partitions and len(partitions[0].isr_nodes) == NODES else None

    assert eventually(whole, "all replicas are in sync")
