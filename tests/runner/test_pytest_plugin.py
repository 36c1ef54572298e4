"""From a test to its verdict in the journal."""

from __future__ import annotations

import pytest

from harness.conformance.summary import summarize
from tests.runner.conftest import SmallSuite

pytestmark = [pytest.mark.sample(4), pytest.mark.rotates(8)]  # each case is a run of its own

EVERY_VERDICT = """
@judges("CONN-001")
def test_passes(broker):
    with requirement("CONN-001"):
        assert broker.connect().ask(ApiVersionsRequest(), 0).error_code == 0

@judges("CONN-002")
def test_fails(broker):
    connection = broker.connect()
    with requirement("CONN-002"):
        assert connection.ask(ApiVersionsRequest(), 0).error_code == 99

@judges("CONN-003", "CONN-004")
def test_fails_before_the_second(broker):
    with requirement("CONN-003"):
        assert 1 == 2
    with requirement("CONN-004"):
        assert 1 == 1

@judges("CONN-018")
def test_warns(broker):
    with requirement("CONN-018"):
        assert 1 == 2

@judges("CONN-005")
def test_records_nothing(broker):
    assert broker

@judges("CONN-006")
def test_decides_nothing(broker):
    with requirement("CONN-006"):
        raise Inconclusive("the answer proves nothing")

@judges("CONN-007")
def test_breaks(broker):
    with requirement("CONN-007"):
        raise KeyError("ours")

@judges("CONN-008")
@needs_broker(Use.OWN)
def test_needs_its_own(broker):
    with requirement("CONN-008"):
        assert broker

@judges("CONN-012")
@needs_broker(Use.DISPOSABLE)
def test_could_do_harm(broker):
    with requirement("CONN-012"):
        assert broker

@judges("CONN-009")
@at_versions("InitProducerId", "4-5")
def test_at_versions(broker, api_version):
    with requirement("CONN-009"):
        assert api_version in (4, 5)

@judges("CONN-010")
@at_versions("CreateTopics", "1-2")
def test_old_version(broker, api_version):
    with requirement("CONN-010"):
        assert api_version == 2

@judges("CONN-011")
def test_lost_connection_outside(broker):
    connection = broker.connect()
    connection.send_bytes(b"\\xff" * 4)
    connection.receive_frame()
"""
WANTED = {
    ("test_passes", "CONN-001"): "passed",
    ("test_fails", "CONN-002"): "failed",
    ("test_fails_before_the_second", "CONN-003"): "failed",
    ("test_fails_before_the_second", "CONN-004"): "inconclusive",
    ("test_warns", "CONN-018"): "warning",
    ("test_records_nothing", "CONN-005"): "harness_error",
    ("test_decides_nothing", "CONN-006"): "inconclusive",
    ("test_breaks", "CONN-007"): "harness_error",
    ("test_needs_its_own", "CONN-008"): "not_applicable",
    ("test_could_do_harm", "CONN-012"): "not_applicable",
    ("test_at_versions", "CONN-009"): "passed",
    ("test_old_version", "CONN-010"): "passed",
    ("test_lost_connection_outside", "CONN-011"): "inconclusive",
}


def _by_test(verdicts: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    return {(test.split("[")[0], name): verdict for (test, name), verdict in verdicts.items()}


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_every_verdict_is_written_to_journal(suite: SmallSuite, options: tuple[str, ...]) -> None:
    ended = suite.write(EVERY_VERDICT).run(*options)
    verdicts = ended.verdicts()
    assert verdicts.pop(("test_old_version[v1]", "CONN-010")) == "not_supported"
    assert _by_test(verdicts) == WANTED
    journal = ended.journal
    assert journal.footer is not None
    assert journal.footer.exit == 3
    assert {case.case.split("::")[1].split("[")[0] for case in journal.plan} == {
        t for t, _ in WANTED
    }
    assert ended.code == 1


def test_not_applicable_check_records_missing_capability(suite: SmallSuite) -> None:
    checks = suite.write(EVERY_VERDICT).run("--requirement", "CONN-008").journal.checks
    assert [check.capability_missing for check in checks] == ["own_broker"]


def test_failed_check_writes_evidence_with_wire_and_repeat_command(suite: SmallSuite) -> None:
    ended = suite.write(EVERY_VERDICT).run("--requirement", "CONN-002", "--seed", "7")
    (check,) = ended.journal.checks
    assert check.evidence
    text = (ended.run_dir / check.evidence).read_text()
    assert "CONN-002 MUST: A client may send its first request right after TCP connect" in text
    assert "ApiVersions v0 correlation=1" in text
    assert "00 12 00 00 00 00 00 01" in text  # key 18, version 0, correlation id 1
    assert (
        f"pytest 'suites/test_small.py::test_fails' --target {suite.target} --seed 7"
        in text.replace(
            "pytest suites/test_small.py::test_fails", "pytest 'suites/test_small.py::test_fails'"
        )
    )
    assert "repeat this case" in ended.output


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (
            '@judges("CONN-999")\ndef test_it(broker): pass',
            "CONN-999, which is not in the catalogue",
        ),
        ("def test_it(broker): pass", "does not say which requirement it judges"),
    ],
)
def test_collection_refuses_unknown_or_missing_requirement(
    suite: SmallSuite, test: str, said: str
) -> None:
    ended = suite.write(test).run()
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert said in ended.output
    assert ended.journal.footer is None


def test_check_of_undeclared_requirement_is_harness_error(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        @judges("CONN-001")
        def test_it(broker):
            with requirement("CONN-001"):
                assert True
            with requirement("CONN-002"):
                assert True
        """
    ).run()
    assert ended.verdicts()[("test_it", "CONN-002")] == "harness_error"


def test_requirement_pattern_without_match_is_usage_error(suite: SmallSuite) -> None:
    ended = suite.write(EVERY_VERDICT).run("--requirement", "NOPE-*")
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "NOPE-*" in ended.output


def test_unreachable_target_is_usage_error(suite: SmallSuite) -> None:
    suite.target = "external:127.0.0.1:1"
    ended = suite.write(EVERY_VERDICT).run()
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "127.0.0.1:1" in ended.output
    assert "Traceback" not in ended.output


def test_topics_are_deleted_after_test(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        @judges("CONN-001")
        @pytest.mark.parametrize("round", [1, 2])
        def test_it(broker, round):
            left = [t.name for t in broker.metadata(None).topics if t.name.startswith("kc-")]
            broker.create_topic()
            with requirement("CONN-001"):
                assert left == []
        """
    ).run()
    assert set(ended.verdicts().values()) == {"passed"}


def test_pass_at_second_attempt_stays_failed_and_is_labelled_retried(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        attempts = []

        @judges("CONN-001")
        def test_second_time_lucky(broker):
            attempts.append(broker.create_topic().name)
            with requirement("CONN-001"):
                assert len(attempts) == 2

        @judges("CONN-002")
        def test_fine(broker):
            with requirement("CONN-002"):
                assert broker
        """
    ).run("--retries", "3")
    rows = [(c.requirement, c.attempt, c.verdict.value) for c in ended.journal.checks]
    assert rows == [("CONN-001", 1, "failed"), ("CONN-001", 2, "passed"), ("CONN-002", 1, "passed")]
    summary = summarize(ended.journal)
    assert summary.requirements["CONN-001"].verdict.value == "failed"
    assert summary.retried == (("test_small.py::test_second_time_lucky", "CONN-001"),)
    assert ended.journal.footer is not None
    assert ended.journal.footer.exit == 1


def test_each_attempt_gets_new_topic_names(suite: SmallSuite) -> None:
    """The topics of an earlier attempt may still exist."""
    ended = suite.write(
        """
        @judges("CONN-001")
        def test_names(broker):
            with requirement("CONN-001"):
                raise AssertionError(broker.unique_topic())
        """
    ).run("--retries", "2")
    made = [check.reason for check in ended.journal.checks]
    assert all(name.startswith("kc-") for name in made)
    assert len(made) == len(set(made)) == 3


BROKEN_CATALOGUE = """
from harness.conformance.catalogue import CatalogueError
from harness.runner import pytest_plugin

def _broken():
    raise CatalogueError("STOR.toml: id STOR-001 occurs twice")

pytest_plugin.load_catalogue = _broken
"""


def test_broken_catalogue_is_usage_error(suite: SmallSuite) -> None:
    """The message names the file and the problem; no target starts."""
    conftest = suite.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + BROKEN_CATALOGUE)
    ended = suite.write(EVERY_VERDICT).run()
    assert ended.code == pytest.ExitCode.USAGE_ERROR, ended.output
    assert "ERROR: STOR.toml: id STOR-001 occurs twice" in ended.output
    assert "INTERNALERROR" not in ended.output
    assert not suite.run_dir.exists()
