"""The contract of :mod:`tests.targets.contract`, on every kind of target."""

import pytest

from harness.targets.kafka.zookeeper import PIN
from tests.targets import kinds
from tests.targets.capability_contract import CapabilityContract
from tests.targets.contract import ExternalContract, TargetContract

pytestmark = pytest.mark.sample(4)  # each case starts brokers


@pytest.mark.kafka
@pytest.mark.rotates(20)
class TestKafka(TargetContract):
    name = "kafka"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _needed(cls) -> None:
        kinds.need_kafka()


@pytest.mark.kafka
@pytest.mark.rotates(20)
class TestKafkaWithZooKeeper(TargetContract):
    name = "kafka_with_zookeeper"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _needed(cls) -> None:
        kinds.need_kafka(kinds.KAFKA_ZK, PIN)


@pytest.mark.kafka
@pytest.mark.deep
class TestKafkaCluster(TargetContract):
    """Three brokers and a controller."""

    name = "kafka_cluster"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _needed(cls) -> None:
        kinds.need_kafka()


class TestReference(TargetContract):
    name = "reference"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _needed(cls) -> None:
        kinds.need_reference()


@pytest.mark.sample(4)
class TestReferenceCluster(TargetContract):
    """Three brokers and a controller, a process each."""

    name = "reference_cluster"


class TestStandIn(TargetContract):
    name = "stand_in"


class TestCommandAtPort(TargetContract):
    name = "command_at_port"


class TestCommandThatStores(TargetContract):
    name = "command_that_stores"


class TestCommandThatTells(TargetContract):
    name = "command_that_tells"


class TestExternal(ExternalContract):
    name = "external"


class TestExternalWithAccessFile(ExternalContract, CapabilityContract):
    """Its owner lets tests stop, kill, pause and restart the node, and read its log and folder."""

    name = "external_with_access_file"
