"""Tests that ask no broker run under by-document alone, and are not_applicable to every broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

SUITE = """
@judges("LEG-001")
@offline()
def test_holds():
    with requirement("LEG-001"):
        assert 1 == 1

@judges("LEG-002")
@offline()
@pytest.mark.parametrize("at", [0, 1])
def test_breaks(at):
    with requirement("LEG-002"):
        assert at == 0, "seen"

@judges("CONN-001")
def test_asks(broker):
    with requirement("CONN-001"):
        assert broker
"""
NO_BROKER = "it judges no broker, but what we do by document: --target by-document"


@pytest.fixture
def by_document(tmp_path: Path) -> SmallSuite:
    return SmallSuite(tmp_path, "by-document").write(SUITE)


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_by_document_run_plans_and_judges_only_offline_tests(
    by_document: SmallSuite, options: tuple[str, ...]
) -> None:
    ended = by_document.run(*options)
    assert ended.verdicts() == {
        ("test_holds", "LEG-001"): "passed",
        ("test_breaks[0]", "LEG-002"): "passed",
        ("test_breaks[1]", "LEG-002"): "failed",
    }
    journal = ended.journal
    assert len(journal.plan) == 3, "what asks a broker is not planned either"
    assert journal.footer is not None
    assert (journal.footer.exit, ended.code) == (1, 1)
    (failed,) = [check for check in journal.checks if check.reason]
    assert failed.evidence
    evidence = (ended.run_dir / failed.evidence).read_text()
    assert "--target by-document" in evidence


def test_offline_tests_are_not_applicable_to_broker(suite: SmallSuite) -> None:
    ended = suite.write(SUITE).run()
    assert ended.verdicts() == {
        ("test_holds", "LEG-001"): "not_applicable",
        ("test_breaks[0]", "LEG-002"): "not_applicable",
        ("test_breaks[1]", "LEG-002"): "not_applicable",
        ("test_asks", "CONN-001"): "passed",
    }
    assert {(check.reason, check.capability_missing) for check in ended.journal.checks} == {
        (NO_BROKER, "offline"),
        ("", None),
    }
    assert ended.code == 0


def test_by_document_with_only_broker_tests_is_usage_error(by_document: SmallSuite) -> None:
    ended = by_document.run("--requirement", "CONN-001")
    assert ended.code == 4
    assert "by-document is no broker, and all of these tests ask one" in ended.output


def test_offline_test_with_broker_fixture_is_usage_error(suite: SmallSuite) -> None:
    test = """
    @judges("LEG-001")
    @offline()
    def test_it(broker): pass
    """
    ended = suite.write(test).run()
    assert ended.code == 4
    assert "test_it asks a broker although it is marked offline" in ended.output
