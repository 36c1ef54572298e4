"""One broker for tests that can share it: each uses its own topic names."""

from collections.abc import Iterator

import pytest

from tests.reference_broker.running import Address, running_broker


@pytest.fixture(scope="package")
def address() -> Iterator[Address]:
    with running_broker() as where:
        yield where


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    return "t-" + "".join(c if c.isalnum() else "-" for c in request.node.name)[:200]
