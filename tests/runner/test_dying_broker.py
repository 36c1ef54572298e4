"""A broker that dies under a test: that test fails, and the others are judged all the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.runner.conftest import SmallSuite
from tests.targets.kinds import write_command_file

pytestmark = pytest.mark.rotates(8)

SUITE = """
from harness.codec.messages import MetadataRequest

@judges("CONN-001")
@pytest.mark.parametrize("round", range(4))
def test_before(broker, round):
    with requirement("CONN-001"):
        assert broker.connect().ask(ApiVersionsRequest(), 0).error_code == 0

@judges("CONN-002")
@pytest.mark.parametrize("round", range(2))
def test_kills(broker, round):
    connection = broker.connect()
    topics = [MetadataRequest.MetadataRequestTopic(name="fatal")]
    with requirement("CONN-002"):
        connection.ask(MetadataRequest(topics=topics), 1)

@judges("CONN-003")
@pytest.mark.parametrize("round", range(4))
def test_after(broker, round):
    with requirement("CONN-003"):
        assert broker.connect().ask(ApiVersionsRequest(), 0).error_code == 0
"""


def fragile(folder: Path, capabilities: list[str]) -> SmallSuite:
    """The suite above, for a broker that dies of one topic (asking for it may create it)."""
    (folder / "target").mkdir()
    path = write_command_file(folder / "target", capabilities=capabilities)
    return SmallSuite(folder, f"command:{path}").write(SUITE)


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_dead_broker_is_replaced_and_other_tests_pass(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    ended = fragile(tmp_path, ["own_broker", "create_topics"]).run(*options)
    journal = ended.journal
    verdicts = Counter((check.requirement, check.verdict.value) for check in journal.checks)
    assert verdicts == {
        ("CONN-001", "passed"): 4,
        ("CONN-002", "failed"): 2,
        ("CONN-003", "passed"): 4,
    }
    assert journal.footer is not None
    assert journal.footer.exit == 1
    failed = [check for check in journal.checks if check.verdict.value == "failed"]
    assert all("the broker no longer answers at all" in check.reason for check in failed)
    evidence = (ended.run_dir / (failed[0].evidence or "")).read_text()
    assert "the stand-in dies of this topic" in evidence, "the log is that of the broker that died"


def test_dead_broker_without_replacement_makes_later_tests_inconclusive(tmp_path: Path) -> None:
    journal = fragile(tmp_path, ["create_topics"]).run().journal
    verdicts = Counter((check.requirement, check.verdict.value) for check in journal.checks)
    assert verdicts == {
        ("CONN-001", "passed"): 4,
        ("CONN-002", "failed"): 1,
        ("CONN-002", "inconclusive"): 1,
        ("CONN-003", "inconclusive"): 4,
    }
