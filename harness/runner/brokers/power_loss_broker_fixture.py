"""The fixture ``lossy_broker``: a private broker with a disk that can lose power."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.conformance.outcome import NotApplicable
from harness.power_loss.lossy_disk import DiskError, LossyDisk
from harness.runner.brokers.power_loss_broker import LossyBroker
from harness.targets.target import POWER_LOSS


@pytest.fixture
def lossy_broker(request: pytest.FixtureRequest) -> Iterator[LossyBroker]:
    """As ``kept_broker``, with its settings from the same mark, on a disk of its own.

    Recorded as not_applicable where the target, or the machine, has no such disk.
    """
    from harness.runner.pytest_plugin import CASE  # it loads this module

    case = request.node.stash[CASE]
    mark = request.node.get_closest_marker("kept_broker")
    with new_disk() as disk:
        try:
            made = case.lossy_broker(case.broker.make_target(), mark.args[0] if mark else {}, disk)
            made.sync()  # what Kafka 3.9.2 formats is not flushed by itself
            yield made
            made.door.leave()
        finally:
            case.close()


@contextmanager
def new_disk() -> Iterator[LossyDisk]:
    """Raises NotApplicable where none can be mounted."""
    try:
        made = LossyDisk()
    except DiskError as problem:
        raise NotApplicable(POWER_LOSS, str(problem)) from problem
    with made:
        yield made
