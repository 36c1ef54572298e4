"""One broker for tests that can share it: each uses its own topic names.

Brokers like earlier releases are for one test each.
"""

from collections.abc import Iterator

import pytest

from harness.client.connection import Connection
from tests.reference_broker.running import Address, create_topic, running_broker

TOPIC = "edges"


@pytest.fixture(scope="package")
def address() -> Iterator[Address]:
    with running_broker() as where:
        yield where


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    return "t-" + "".join(c if c.isalnum() else "-" for c in request.node.name)[:200]


@pytest.fixture(params=["2.8.2", "3.9.2"])
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connection(release: str) -> Iterator[Connection]:
    """A connection to a new broker like the release, where `TOPIC` has two partitions."""
    with running_broker(like=release) as address:
        create_topic(address, TOPIC, partitions=2)
        with Connection(address) as asking:
            yield asking
