"""The fixtures ``broker``, ``peers`` and ``faults``: a broker, virtual peers, proxies before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.broker import BrokerUnderTest
from harness.runner.brokers.broker_pool import MARKS, LentBrokers
from harness.runner.faults import Faults
from harness.virtual_broker.cluster import JoinedCluster

_PRIVATE = ("own_broker", *MARKS)
_LENT = pytest.StashKey[LentBrokers]()


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[BrokerUnderTest]:
    """The broker under test: the run's, or a private one with the marks that ask for it."""
    from harness.runner.pytest_plugin import CASE  # it loads this module

    case = request.node.stash[CASE]
    marks = {name: request.node.get_closest_marker(name) for name in _PRIVATE}
    lender = request.config.stash.setdefault(_LENT, LentBrokers())
    lent = None
    try:
        if own := marks["own_broker"]:
            yield case.private_broker(case.broker.make_target(), own.args[0])
        elif (joined := marks["joined_broker"]) and joined.args[0]:
            yield case.private_joined(case.broker.make_target(), joined.args[0])
        elif lent := next((mark for mark in marks.values() if mark), None):
            settings = lent.args[0] if lent.args else {}
            yield case.lent_broker(lender.lend(lent.name, settings, case.broker.make_target))
        else:
            yield case.shared_broker()
    finally:
        case.close()
        if lent is not None and not case.quiet:
            lender.replace(lent.name)


@pytest.fixture
def peers(request: pytest.FixtureRequest, broker: BrokerUnderTest) -> Iterator[JoinedCluster]:
    """The cluster of the test's own broker, joined by virtual ones, see
    :mod:`harness.virtual_broker`; for tests marked ``joined_broker``."""
    from harness.runner.pytest_plugin import CASE

    with request.node.stash[CASE].joined(broker) as cluster:
        yield cluster


@pytest.fixture
def faults(request: pytest.FixtureRequest, broker: BrokerUnderTest) -> Faults:
    """Proxies with rules on the way to the broker under test, see :mod:`harness.runner.faults`."""
    from harness.runner.pytest_plugin import CASE

    made: Faults = request.node.stash[CASE].faults_before(broker)
    return made


def pytest_unconfigure(config: pytest.Config) -> None:
    if lent := config.stash.get(_LENT, None):
        lent.stop()
