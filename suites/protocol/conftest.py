"""Fixtures of this folder's tests, beside ``broker`` of the harness."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.broker import BrokerUnderTest
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.kept_topics import KeptTopics


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptTopics]:
    """Topics that the cases of a file share, because none of them appends."""
    with KeptTopics() as topics:
        yield topics


@pytest.fixture
def group(broker: BrokerUnderTest) -> Iterator[ClassicGroup]:
    """A group of the test's own; its members leave when the test ends."""
    made = ClassicGroup(broker)
    try:
        yield made
    finally:
        made.close()
