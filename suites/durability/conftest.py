"""Fixtures of this folder's tests, beside ``broker`` of the harness."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.runner.brokers.persistent_broker import KeptBroker
from harness.runner.brokers.power_loss_broker_fixture import new_disk
from suites.durability.half_on_disk import HalfOnDisk
from suites.protocol.conftest import group

__all__ = ["group"]


@pytest.fixture
def half_on_disk(kept_broker: KeptBroker) -> Iterator[HalfOnDisk]:
    """A broker with two directories; not_applicable where no separate disk is available."""
    with new_disk() as disk:
        yield HalfOnDisk(kept_broker, disk)
        kept_broker.kill()  # before its disk goes
