"""Unmodified clients reach a broker that advertises an unreachable address."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import confluent_kafka
import confluent_kafka.admin
import pytest

from harness.proxies.addresses import Address, AddressBook, AddressRewriter
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.targets.ports import free_ports
from tests.reference_broker import test_clients as clients
from tests.reference_broker.running import create_topic, running_broker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its files in a way that Python warns of
    import kafka

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka")
ADVERTISED = ("broker-1.invalid", 9999)  # RFC 6761: no such name is ever resolved


@pytest.fixture(scope="module")
def proxied() -> Iterator[tuple[Address, AddressRewriter]]:
    (port,) = free_ports(1)
    settings = {"advertised.listeners": "PLAINTEXT://{}:{}".format(*ADVERTISED)}
    rewriter = AddressRewriter(AddressBook())
    with running_broker(settings, port) as told, RunningProxies() as net:
        assert told == ADVERTISED
        proxy = Proxy("p", ("127.0.0.1", port), rewriter=rewriter)
        address = net.add(proxy)
        rewriter.book.add("client", ADVERTISED, address)
        yield address, rewriter
        assert list(proxy.errors) == []


def seen_by_confluent(address: Address) -> set[Address]:
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": clients.bootstrap(address)})
    found = admin.list_topics(timeout=20).brokers.values()
    described = admin.describe_cluster(request_timeout=20).result(20).nodes
    return {(one.host, one.port) for one in (*found, *described)}


def seen_by_kafka_python(address: Address) -> set[Address]:
    consumer = kafka.KafkaConsumer(bootstrap_servers=clients.bootstrap(address))
    try:
        consumer.topics()
        found = consumer._client.cluster.brokers()
        return {(one.host, one.port) for one in found}
    finally:
        consumer.close()


@pytest.mark.parametrize("seen_by", [seen_by_confluent, seen_by_kafka_python])
def test_client_metadata_contains_only_proxy_address(
    proxied: tuple[Address, AddressRewriter], seen_by: Callable[[Address], set[Address]]
) -> None:
    address, rewriter = proxied
    before = rewriter.counters["rewritten"]
    assert seen_by(address) == {address}
    assert rewriter.counters["rewritten"] > before


@pytest.mark.parametrize("client", clients.PRODUCERS)
def test_records_produced_through_proxy_are_consumed(
    proxied: tuple[Address, AddressRewriter], client: str
) -> None:
    address, rewriter = proxied
    topic = f"through-{client}"
    create_topic(address, topic)
    clients.PRODUCERS[client](address, topic, "none")
    found = clients.CONSUMERS[client](address, topic)
    assert [record[0] for record in found] == list(range(clients.RECORDS))
    assert set(rewriter.counters) <= {"rewritten", "addresses"}
