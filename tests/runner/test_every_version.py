"""Cases for every version of every API, and the broker that may come to harm."""

from __future__ import annotations

import pytest

from harness.codec.apis import APIS
from harness.conformance.harmless_requests import Safety
from harness.sweep.requests import safety_of
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

DESTRUCTIVE = [api for api in APIS.values() if safety_of(api.name) is Safety.DESTRUCTIVE]
SWEEP = """
@judges("CONN-025")
@at_every_version(Safety.DESTRUCTIVE)
def test_it(broker, api_name, api_version):
    raise AssertionError("the built-in broker advertises none of these")

@judges("CONN-026")
@at_every_version(Safety.READ)
def test_reads(broker, api_name, api_version):
    with requirement("CONN-026"):
        assert api_version in broker.advertised(api_name)
"""
LENT = """
ports = []

@judges("CONN-001")
@needs_broker(Use.DISPOSABLE)
@pytest.mark.parametrize("round", [1, 2])
def test_it(broker, round):
    ports.append(broker.address[1])
    with requirement("CONN-001"):
        assert broker.is_alive()
        assert len(set(ports)) == 1

@judges("CONN-002")
def test_not_the_one_of_all(broker):
    with requirement("CONN-002"):
        assert broker.address[1] not in ports
"""


def test_every_version_is_case_even_if_not_advertised(suite: SmallSuite) -> None:
    ended = suite.write(SWEEP).run("-rs")
    checks = ended.journal.checks
    found = [check for check in checks if check.requirement == "CONN-025"]
    assert [(check.api_key, check.api_version) for check in found] == [
        (api.key, version) for api in DESTRUCTIVE for version in api.valid_versions
    ]
    assert {check.verdict.value for check in found} == {"not_supported"}
    assert found[0].case == "test_small.py::test_it[LeaderAndIsr-v0]"
    assert found[0].reason == "LeaderAndIsr v0: advertised is not at all"
    assert "LeaderAndIsr v0: advertised is not at all" in ended.output
    assert "raise NotSupported" not in ended.output  # why it did not run, without our source
    reads = {check.verdict.value for check in checks if check.requirement == "CONN-026"}
    assert reads == {"passed", "not_supported"}


def test_versions_ends_runs_lowest_and_highest_version_only(suite: SmallSuite) -> None:
    checks = suite.write(SWEEP).run("--versions", "ends").journal.checks
    found = [(c.api_key, c.api_version) for c in checks if c.requirement == "CONN-025"]
    ends = [sorted({a.valid_versions.lowest, a.valid_versions.highest}) for a in DESTRUCTIVE]
    assert found == [
        (api.key, version) for api, both in zip(DESTRUCTIVE, ends, strict=True) for version in both
    ]


def test_disposable_broker_tests_share_separate_broker(suite: SmallSuite) -> None:
    suite.target = "reference"
    ended = suite.write(LENT).run()
    assert set(ended.verdicts().values()) == {"passed"}, ended.output
    logs = [file.name for file in (ended.run_dir / "logs").glob("reference*")]
    assert len(logs) == 2, logs
