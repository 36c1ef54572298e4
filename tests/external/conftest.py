"""A cluster with things of another owner: the built-in broker, and a real Kafka (``kafka``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.own_names import DEFAULT_PREFIX, case_prefix, new_nonce
from harness.client.broker import BrokerUnderTest
from harness.sweep.snapshot import Snapshot
from tests.external import strangers
from tests.external.description import changes_since, describe
from tests.sweep.brokers import advertised
from tests.targets import kinds

KINDS = ["reference", pytest.param("kafka", marks=[pytest.mark.kafka, pytest.mark.deep])]


class CutOff(BrokerUnderTest):
    """Its end is that of a process that was killed: connections close, topics stay."""

    def close(self) -> None:
        self._created.clear()
        super().close()


@dataclass(frozen=True)
class Cluster:
    """A running cluster; ``has_groups``: it serves groups, quotas, credentials and config changes,
    so that it can be filled with more than topics.
    """

    client: BrokerUnderTest
    has_groups: bool

    @property
    def spec(self) -> str:
        host, port = self.client.address
        return f"external:{host}:{port}"

    def describe(self) -> Snapshot:
        return describe(self.client)

    def changes_since(self, before: Snapshot) -> list[str]:
        return changes_since(before, self.client)

    @contextmanager
    def killed(self, nonce: str | None = None) -> Iterator[BrokerUnderTest]:
        """Yield the broker of a test, with names of a run; its end deletes nothing."""
        ranges = {key: (one.lowest, one.highest) for key, one in self.client.api_versions.items()}
        prefix = case_prefix(DEFAULT_PREFIX, nonce or new_nonce(), "a case")
        client = CutOff([self.client.address], ranges, name_prefix=prefix)
        try:
            yield client
        finally:
            client.close()

    def leave_topic(self, nonce: str | None = None) -> str:
        """Return the name of a topic that a killed run left."""
        with self.killed(nonce) as client:
            return client.create_topic().name


@pytest.fixture(scope="package", params=KINDS)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if request.param == "kafka":
        kinds.need_kafka()
    make = kinds.kafka if request.param == "kafka" else kinds.reference
    with make(tmp_path_factory.mktemp("logs")) as target:
        address = (target.addresses[0].host, target.addresses[0].port)
        ranges = {key: (one.lowest, one.highest) for key, one in advertised(address).items()}
        with closing(BrokerUnderTest([address], ranges, name_prefix="strangers")) as client:
            strangers.fill(client)
            yield Cluster(client, has_groups=strangers.can_have_all(client))
            client.hang_up()  # the broker closes a connection that was idle for ten minutes


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of a run's results."""
    return tmp_path / "out"
