"""The fixtures that give a test its broker or cluster, by the mark ``needs_broker``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import REPLICAS, Cluster
from harness.conformance.outcome import NotApplicable
from harness.runner.broker_request import request_of
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.brokers.power_loss_broker import PowerLossBroker
from harness.runner.brokers.provider import BrokerProvider
from harness.runner.faults import Faults
from harness.runner.running_case import CASE
from harness.targets.secured_cluster import SecuredWay
from harness.virtual_broker.cluster import JoinedCluster

NODES = "nodes"
"""The missing capability, in a record, of a target with too few brokers."""
TLS, SASL = "a listener with TLS", "a listener with SASL"
_PROVIDER = pytest.StashKey[BrokerProvider]()


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "needs_broker(request): the test needs another broker than the run's, or a cluster",
        "needs_listener(tls, sasl): the listener has to have TLS, SASL or both",
        "needs_nodes(count): the cluster has to have so many brokers",
    ):
        config.addinivalue_line("markers", line)


def _provider(request: pytest.FixtureRequest) -> BrokerProvider:
    return request.config.stash.setdefault(_PROVIDER, BrokerProvider())


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[BrokerUnderTest]:
    """The broker under test: the run's, or a private one."""
    item = request.node
    _expect_listener(item, item.stash[CASE].context.info.secured)
    with _provider(request).broker(item.stash[CASE], request_of(item)) as made:
        yield made


@pytest.fixture
def persistent_broker(request: pytest.FixtureRequest) -> Iterator[PersistentBroker]:
    """A broker with data that outlives its process: the test ends it and starts it again."""
    item = request.node
    with _provider(request).persistent_broker(item.stash[CASE], request_of(item)) as made:
        yield made


@pytest.fixture
def upgraded_broker(request: pytest.FixtureRequest) -> Iterator[PersistentBroker]:
    """The same, which begins as an older release: its next start is the upgrade."""
    item, provider = request.node, _provider(request)
    with provider.persistent_broker(item.stash[CASE], request_of(item), older=True) as made:
        yield made


@pytest.fixture
def power_loss_broker(request: pytest.FixtureRequest) -> Iterator[PowerLossBroker]:
    """The same on a disk of its own, which can lose power.

    Recorded as not_applicable where the target, or the machine, has no such disk.
    """
    item = request.node
    with _provider(request).power_loss_broker(item.stash[CASE], request_of(item)) as made:
        yield made


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The run's cluster, or a private one."""
    item = request.node
    case = item.stash[CASE]
    _expect_listener(item, case.context.info.secured)
    _expect_nodes(item, len(case.broker.nodes), case.context.info.spec)
    with _provider(request).cluster(case, request_of(item)) as made:
        yield made


def _expect_nodes(item: pytest.Item, there: int, spec: str) -> None:
    """Raises NotApplicable when the target is no cluster, or too small a one."""
    mark = item.get_closest_marker("needs_nodes")
    needed = mark.args[0] if mark else REPLICAS
    if there < needed:
        raise NotApplicable(NODES, f"{needed} brokers are needed; {spec} is known to have {there}")


def _expect_listener(item: pytest.Item, way: SecuredWay | None) -> None:
    """Raises NotApplicable when the listener lacks what the mark names."""
    mark = item.get_closest_marker("needs_listener")
    if mark is None:
        return
    tls, sasl = mark.args
    if tls and not (way and way.protocol.has_tls):
        raise NotApplicable(TLS)
    if sasl and not (way and way.protocol.has_sasl):
        raise NotApplicable(SASL)


@pytest.fixture
def peers(request: pytest.FixtureRequest, broker: BrokerUnderTest) -> Iterator[JoinedCluster]:
    """The cluster of a joinable broker, joined by virtual ones: :mod:`harness.virtual_broker`."""
    with request.node.stash[CASE].joined(broker) as cluster:
        yield cluster


@pytest.fixture
def faults(request: pytest.FixtureRequest, broker: BrokerUnderTest) -> Faults:
    """Proxies with rules on the way to the broker under test, see :mod:`harness.runner.faults`."""
    made: Faults = request.node.stash[CASE].faults_before(broker)
    return made


def pytest_unconfigure(config: pytest.Config) -> None:
    if provider := config.stash.get(_PROVIDER, None):
        provider.stop()
