"""The fixture ``kept_broker``: a broker of a test's own that it ends and starts again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.runner.brokers.persistent_broker import KeptBroker


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "kept_broker(settings): the test ends a broker of its own and starts it again"
    )


@pytest.fixture
def kept_broker(request: pytest.FixtureRequest) -> Iterator[KeptBroker]:
    """A broker with data that outlives its process; for tests marked ``kept_broker``."""
    yield from _made(request, older=False)


@pytest.fixture
def upgraded_broker(request: pytest.FixtureRequest) -> Iterator[KeptBroker]:
    """The same, which begins as an older release: its next start is the upgrade."""
    yield from _made(request, older=True)


def _made(request: pytest.FixtureRequest, *, older: bool) -> Iterator[KeptBroker]:
    from harness.runner.pytest_plugin import CASE  # it loads this module

    case = request.node.stash[CASE]
    mark = request.node.get_closest_marker("kept_broker")
    try:
        settings = mark.args[0] if mark else {}
        made = case.kept_broker(case.broker.make_target(), settings, older=older)
        yield made
        made.door.leave()
    finally:
        case.close()
