"""One broker for all tests of this folder; each has topics of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.reference_broker.running import create_topic, running_broker
from tests.talk.talking import Address, Talking


@pytest.fixture(scope="package")
def address() -> Iterator[Address]:
    with running_broker() as listening:
        yield listening


@pytest.fixture
def talk(address: Address) -> Talking:
    return Talking(address)


@pytest.fixture
def topic(address: Address, request: pytest.FixtureRequest) -> str:
    """A topic of three partitions with the name of the test."""
    name = re.sub(r"[^\w-]", "-", request.node.name)[:200]
    create_topic(address, name, 3)
    return name
