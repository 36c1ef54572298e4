"""A target behind proxies: its clients meet no other address, and faults strike named links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.capture.capture_file import CaptureFile
from harness.client.connection import Connection
from harness.codec.messages import DescribeClusterRequest, FindCoordinatorRequest, MetadataRequest
from harness.proxies.capture import Capture
from harness.targets.asking import ask_api_versions
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.not_answered import NotAnswered
from harness.targets.ports import free_ports
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.reference import ReferenceBroker
from harness.targets.target import Target
from labs.captures.recorded import follow, messages
from tests.leftovers import open_sockets
from tests.reference_broker import test_clients as clients
from tests.reference_broker.running import create_topic, running_broker
from tests.targets import kinds
from tests.targets.round_trip import eventually

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka")


@contextmanager
def behind(target: Target) -> Iterator[ProxiedTarget]:
    with target, proxied(target) as found:
        yield found
        assert [proxy.errors for proxy in found.proxies if proxy.errors] == []
        assert set(found.rewriter.counters) <= {"rewritten", "addresses"}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProxiedTarget]:
    with behind(ReferenceBroker(log_dir=tmp_path_factory.mktemp("logs"))) as found:
        yield found


def told(address: Address) -> list[Address]:
    """Every address in a broker's answers, by three APIs."""
    with Connection(address) as connection:
        brokers = connection.ask(MetadataRequest(), 12).brokers
        described = connection.ask(DescribeClusterRequest(), 0).brokers
        wanted = FindCoordinatorRequest(coordinator_keys=["g"])
        coordinators = connection.ask(wanted, 4).coordinators
    found = [Address(one.host, one.port) for one in brokers]
    found += [Address(one.host, one.port) for one in described]
    found += [Address(one.host, one.port) for one in coordinators if one.host]  # else none yet
    return found


def test_every_address_in_responses_is_proxy(reference: ProxiedTarget) -> None:
    (address,) = reference.addresses
    assert address != reference.target.addresses[0]
    assert set(told(address)) == {address}
    assert [proxy.link for proxy in reference.proxies] == ["client->1"]
    assert reference.address_of(1) == address
    with pytest.raises(TargetError, match="has no broker 7"):
        reference.proxy_of(7)


def test_cut_proxy_is_silent_until_healed(reference: ProxiedTarget) -> None:
    proxy, address = reference.proxy_of(reference.nodes[0]), reference.addresses[0]
    reference.net.call(proxy.cut)
    with pytest.raises(NotAnswered):
        ask_api_versions(address, 300)
    ask_api_versions(reference.target.addresses[0], 5_000)
    reference.net.call(proxy.heal)
    ask_api_versions(address, 5_000)


ANOTHER_NAME = "localhost"  # the broker's host, as if it were another broker


def test_address_that_appears_later_gets_proxy() -> None:
    (port,) = free_ports(1)
    settings = {"advertised.listeners": f"PLAINTEXT://{ANOTHER_NAME}:{port}"}
    with (
        running_broker(settings, port),
        behind(ExternalBroker([Address("127.0.0.1", port)])) as found,
    ):
        first = found.addresses[0]
        (later,) = set(told(first))
        assert later not in (first, (ANOTHER_NAME, port))
        assert set(told(later)) == {later}
        links = [proxy.link for proxy in found.proxies]
        assert links == [f"client->127.0.0.1:{port}", "client->1"], "the answer tells its id"


def test_host_alias_maps_to_same_proxy() -> None:
    (port,) = free_ports(1)
    settings = {"advertised.listeners": f"PLAINTEXT://{ANOTHER_NAME}:{port}"}
    with running_broker(settings, port), ExternalBroker([Address("127.0.0.1", port)]) as target:
        with proxied(target, host_aliases={ANOTHER_NAME: "127.0.0.1"}) as found:
            assert set(told(found.addresses[0])) == set(found.addresses)
            assert len(found.proxies) == 1


def test_end_of_proxied_leaves_no_socket_open(tmp_path: Path) -> None:
    before = open_sockets()
    with ReferenceBroker(log_dir=tmp_path) as target:
        with proxied(target) as found:
            address = found.addresses[0]
            ask_api_versions(address, 5_000)
        with pytest.raises(NotAnswered):
            ask_api_versions(address, 300)
        ask_api_versions(target.addresses[0], 5_000)
    assert open_sockets() <= before


def test_proxied_target_not_started_raises_target_error(tmp_path: Path) -> None:
    target = ReferenceBroker(log_dir=tmp_path)
    with pytest.raises(TargetError, match="start it before the proxies"), proxied(target):
        pass


@pytest.mark.kafka
@pytest.mark.deep
def test_clients_find_all_kafka_brokers_behind_proxies(tmp_path: Path) -> None:
    """From one bootstrap address clients find all brokers, all of them behind proxies."""
    kinds.need_kafka(kinds.KAFKA)
    with behind(kinds.kafka_cluster(tmp_path)) as cluster:
        assert len(set(cluster.addresses)) == 3
        assert not set(cluster.addresses) & set(cluster.target.addresses)
        first = cluster.addresses[0]
        all_known = eventually(lambda: len(set(told(first))) == 3 or None, "brokers are known")
        assert all_known
        assert set(told(first)) == set(cluster.addresses)
        for client in clients.PRODUCERS:
            create_topic(first, client, partitions=1)
            clients.PRODUCERS[client](first, client, "none")
            found = clients.CONSUMERS[client](first, client)
            assert [record[0] for record in found] == list(range(clients.RECORDS))
        for address in cluster.addresses:
            assert set(told(address)) == set(cluster.addresses)
        assert len(cluster.proxies) == 3
        assert all(proxy.counters.accepted for proxy in cluster.proxies)
        _a_broker_that_comes_back(cluster)


def _a_broker_that_comes_back(cluster: ProxiedTarget) -> None:
    """The broker has its old proxy again."""
    node, first = cluster.nodes[-1], cluster.addresses[0]
    cluster.target.kill_node(node)
    gone = cluster.address_of(node)
    assert eventually(lambda: gone not in told(first) or None, "the broker is gone")
    cluster.target.restart_node(node)
    assert eventually(lambda: gone in told(first) or None, "the broker is back")
    assert set(told(gone)) == set(cluster.addresses)


def test_capture_contains_messages_of_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "target.pcap"
    with Capture(file) as capture, ReferenceBroker(log_dir=tmp_path) as target:
        with proxied(target, tap=capture) as found:
            told(found.addresses[0])
    events, _ = follow(tuple(CaptureFile(str(file))))
    names = [event.api.name for event in messages(events) if event.api]
    for name in ("Metadata", "DescribeCluster", "FindCoordinator"):
        assert names.count(name) == 4, "asked and answered, on both sides"
