"""The specification beside the broker under test, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.broker import BrokerUnderTest
from harness.runner.running_case import CASE
from suites.protocol.support.specification import Judge, SharedSpecification


@pytest.fixture(scope="module")
def specification() -> Iterator[SharedSpecification]:
    """The specification, started by the first test that needs it."""
    with SharedSpecification() as shared:
        yield shared


@pytest.fixture
def judge(
    request: pytest.FixtureRequest, broker: BrokerUnderTest, specification: SharedSpecification
) -> Judge:
    """Seeded conversations with the broker under test and the specification."""
    context = request.node.stash[CASE].context
    return Judge(specification.beside(broker, context.info))
