"""Fixtures of this folder's tests, beside ``broker`` of the harness."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.brokers.provider import new_disk
from harness.runner.restarted_specification import restart_likeness, restarted_judge
from suites.durability.support.half_on_disk import HalfOnDisk
from suites.protocol.conftest import group

__all__ = ["group", "restart_likeness", "restarted_judge"]


@pytest.fixture
def half_on_disk(persistent_broker: PersistentBroker) -> Iterator[HalfOnDisk]:
    """A broker with two directories; not_applicable where no separate disk is available."""
    with new_disk() as disk:
        yield HalfOnDisk(persistent_broker, disk)
        persistent_broker.kill()  # before its disk goes
