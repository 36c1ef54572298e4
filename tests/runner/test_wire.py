"""Messages that tests sent and received reach the run's counts, from each process."""

from __future__ import annotations

import pytest

from harness.conformance.wire import WIRE_NAME, WireRow, read_wire
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

SUITE = """
@judges("CONN-001")
@pytest.mark.parametrize("round", range(6))
def test_asks(broker, round):
    with requirement("CONN-001"):
        assert broker.connect().ask(ApiVersionsRequest(), 1).error_code == 0

@judges("CONN-002")
def test_fails(broker):
    with requirement("CONN-002"):
        assert broker.connect().ask(ApiVersionsRequest(), 2).error_code == 99

@judges("CONN-003")
def test_asks_nothing(broker):
    with requirement("CONN-003"):
        assert True
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_every_message_is_counted_once(suite: SmallSuite, options: tuple[str, ...]) -> None:
    ended = suite.write(SUITE).run(*options)
    found = read_wire(ended.run_dir / WIRE_NAME)
    assert (found.run, found.target) == ("run-1", suite.target)
    messages = {key[:4]: n for key, n in found.counts.items() if key.what == "message"}
    assert messages == {
        ("request", 18, "ApiVersions", 1): 6,
        ("response", 18, "ApiVersions", 1): 6,
        ("request", 18, "ApiVersions", 2): 1,
        ("response", 18, "ApiVersions", 2): 1,
    }
    answered = WireRow("response", 18, "ApiVersions", 1, "error", "error_code", 0, "NONE")
    assert found.counts[answered] == 6


def test_requests_of_fixture_teardown_are_counted(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        @judges("CONN-001")
        def test_makes_a_topic(broker):
            broker.create_topic()
            with requirement("CONN-001"):
                assert True
        """
    ).run()
    counted = read_wire(ended.run_dir / WIRE_NAME).counts
    assert {key.api_name for key in counted} >= {"CreateTopics", "DeleteTopics"}
