"""META: a client reaches each broker at the address that Metadata lists."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.messages import MetadataResponse
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.listed_address import Place, ask_brokers, expect_reached

METADATA = api_named("Metadata")


@judges("META-042")
def test_each_listed_broker_answers_at_its_address(broker: BrokerUnderTest) -> None:
    """By a connection of its own, at the same address in every version of Metadata."""
    connection, highest = broker.connect("META-042"), broker.version("Metadata")
    answer = ask_brokers(connection, highest)
    if not answer.brokers:  # before 0.9 a cluster without topics lists no broker
        broker.create_topic()
        answer = ask_brokers(connection, highest)
    with requirement("META-042", api_key=METADATA.key) as check:
        assert answer.brokers, "Metadata lists no broker"
        for listed in answer.brokers:
            with check.subtest(f"broker {listed.node_id}"):
                expect_reached(broker, listed, answer.cluster_id)
        with check.subtest("every version"):
            for version in broker.advertised("Metadata") & METADATA.valid_versions:
                _expect_same_places(ask_brokers(connection, version), answer, version)


def _expect_same_places(older: MetadataResponse, answer: MetadataResponse, version: int) -> None:
    """Of the brokers in both: one that starts or ends meanwhile is in one of them."""
    found, right = _places(older), _places(answer)
    for node in found.keys() & right.keys():
        assert found[node] == right[node], f"v{version} lists {found}, not {right}"


def _places(answer: MetadataResponse) -> dict[int, Place]:
    return {one.node_id: (one.host, one.port) for one in answer.brokers}
