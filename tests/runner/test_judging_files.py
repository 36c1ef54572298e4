"""Files that are skipped because of their text contain none of the selected tests."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness.base.bundle import suites_root
from harness.runner.judging_files import count_tests, is_test_file, may_judge
from tests.runner.conftest import SmallSuite

SUITES = suites_root() / "suites"
TEST_FILES = sorted(path for path in SUITES.rglob("*.py") if is_test_file(path))


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('@judges("PROD-001")', False),
        ('@judges("PROD-001", "FETCH-002")', True),
        ('@judges(\n    "PROD-001",\n    "FETCH-002",\n)', True),
        ('@judges("PROD-001")\n@judges(*OTHERS)', True),
        ('pytest.mark.judges("FETCH-003")', True),
        ("apply(marks)", True),
    ],
    ids=["another", "second", "lines", "a variable", "plain mark", "says nothing"],
)
def test_file_is_skipped_only_if_all_its_requirements_differ(text: str, may: bool) -> None:
    assert may_judge(text, ["NONE-*", "FETCH-*"]) == may


def _judged_in(path: Path) -> set[str]:
    """The requirements in the marks of its functions."""
    module = importlib.import_module(
        ".".join(path.relative_to(SUITES.parent).with_suffix("").parts)
    )
    return {
        name
        for function in vars(module).values()
        for mark in getattr(function, "pytestmark", [])
        if mark.name == "judges"
        for name in mark.args
    }


@pytest.mark.rotates(8)
def test_no_suite_test_is_skipped_for_its_own_requirement() -> None:
    judged = {path: _judged_in(path) for path in TEST_FILES}
    assert len(set().union(*judged.values())) > 500
    lost = [
        (path.name, name)
        for path, names in judged.items()
        for name in names
        if not may_judge(path.read_text("utf-8"), [name])
    ]
    assert not lost


def test_file_text_limits_files_collected_for_one_requirement() -> None:
    collected = [path for path in TEST_FILES if may_judge(path.read_text("utf-8"), ["PROD-011"])]
    assert 0 < len(collected) < 5


def test_count_tests_grows_with_wider_patterns() -> None:
    assert count_tests([SUITES], ["PROD-011"]) < count_tests([SUITES], ["PROD-*"])
    assert count_tests([SUITES], ["PROD-*"]) < count_tests([SUITES], [])


@pytest.mark.rotates(8)
def test_files_without_selected_requirement_are_not_imported(suite: SmallSuite) -> None:
    (suite.folder / "suites" / "test_broken.py").write_text('judges("PROD-001")\nraise OSError')
    suite.write(
        """
        @judges("CONN-001")
        def test_passes(broker):
            with requirement("CONN-001"):
                assert broker
        """
    )
    assert suite.run("--requirement", "CONN-001").verdicts() == {
        ("test_passes", "CONN-001"): "passed"
    }
