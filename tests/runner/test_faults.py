"""Faults between client and broker reach the run's fault journal, from each process."""

from __future__ import annotations

import pytest

from harness.conformance.fault_journal import FAULT_LINES, FAULTS_NAME
from tests.runner.conftest import SmallSuite

SUITE = """
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.runner.faults import requests, responses

@judges("CONN-001")
@pytest.mark.parametrize("round", range(3))
def test_asks_behind_a_fault(faults, round):
    slow = responses("ApiVersions").delay(1)
    with faults.path(slow) as path, requirement("CONN-001"):
        with Connection(path.address) as connection:
            assert connection.ask(ApiVersionsRequest(), 1).error_code == 0
        path.expect_fired()

@judges("CONN-002")
def test_has_no_faults(broker):
    with requirement("CONN-002"):
        assert broker.connect().ask(ApiVersionsRequest(), 2).error_code == 0
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_every_fault_event_is_in_fault_journal_once(
    suite: SmallSuite, options: tuple[str, ...]
) -> None:
    ended = suite.write(SUITE).run(*options)
    assert ended.code == 0, ended.output
    found = FAULT_LINES.read(ended.run_dir / FAULTS_NAME)
    assert (found.run, found.target) == ("run-1", suite.target)
    fired = [row for row in found.rows if row.what == "fired"]
    cases = sorted({row.case for row in found.rows})
    assert len(cases) == 3
    assert [case[-3:] for case in cases] == ["[0]", "[1]", "[2]"]
    assert sorted(row.case for row in fired) == cases
    assert {(row.link, row.connection, row.direction, row.frame) for row in fired} == {
        ("client->broker", 0, "downstream", 0)
    }
    assert {row.rule for row in found.rows if row.what == "armed"} == {
        "response ApiVersions delay=1"
    }


@pytest.mark.rotates(8)
def test_run_without_faults_has_no_fault_journal(suite: SmallSuite) -> None:
    ended = suite.write(SUITE).run("-k", "no_faults")
    assert ended.run_dir.is_dir()
    assert not (ended.run_dir / FAULTS_NAME).exists()
