"""Filled brokers to sweep: the built-in one, and with the mark ``kafka`` a real one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Address
from harness.client.requests import Topic
from harness.sweep.snapshot import Snapshot, take_snapshot
from tests.sweep.brokers import LONG_MS, advertised, client
from tests.sweep.changes import OF_EVERY_BROKER, OF_KAFKA, Change, fill
from tests.targets import kinds

KINDS = ["reference", pytest.param("kafka", marks=[pytest.mark.kafka, pytest.mark.deep])]

HARMFUL_IN_KAFKA: list[tuple[str, tuple[str, ...]]] = [
    ("UnregisterBroker", ("BROKER_ID_NOT_REGISTERED (102)",)),
    ("AddRaftVoter", ("INCONSISTENT_CLUSTER_ID (104)",)),
    ("AddRaftVoter", ("INCONSISTENT_CLUSTER_ID (104)",)),
    ("RemoveRaftVoter", ("INCONSISTENT_CLUSTER_ID (104)",)),
    ("UnregisterController", ("CONTROLLER_ID_NOT_REGISTERED (136)",)),
]


@dataclass(frozen=True)
class Cluster:
    """A broker with something in it, and the changes that it can make."""

    address: Address
    broker: BrokerUnderTest
    topic: Topic
    changes: dict[str, Change]
    harmful: list[tuple[str, tuple[str, ...]]]  # what could do harm, and its answer

    @property
    def spec(self) -> str:
        return f"external:{self.address[0]}:{self.address[1]}"

    def snapshot(self) -> Snapshot:
        return take_snapshot(self.address, advertised(self.address), LONG_MS)


@pytest.fixture(scope="package", params=KINDS)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    is_kafka = request.param == "kafka"
    if is_kafka:
        kinds.need_kafka()
    make = kinds.kafka if is_kafka else kinds.reference
    with make(tmp_path_factory.mktemp("logs")) as target:
        address = (target.addresses[0].host, target.addresses[0].port)
        broker = client(address, "filled")
        changes = OF_KAFKA if is_kafka else OF_EVERY_BROKER
        harmful = HARMFUL_IN_KAFKA if is_kafka else []
        yield Cluster(address, broker, fill(broker), changes, harmful)
        broker.close()
