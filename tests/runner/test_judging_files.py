"""Files that are skipped because of their text contain none of the selected tests."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness.base.bundle import shipped_root
from harness.runner.judging_files import count_tests, is_test_file, may_judge
from tests.runner.conftest import SmallSuite

SUITES = shipped_root() / "suites"
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
def test_a_file_is_passed_over_when_all_it_names_is_other(text: str, may: bool) -> None:
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


def test_no_test_of_the_suites_is_passed_over() -> None:
    judged = {path: _judged_in(path) for path in TEST_FILES}
    assert len(set().union(*judged.values())) > 500
    lost = [
        (path.name, name)
        for path, names in judged.items()
        for name in names
        if not may_judge(path.read_text("utf-8"), [name])
    ]
    assert not lost


def test_the_text_of_most_files_decides() -> None:
    collected = [path for path in TEST_FILES if may_judge(path.read_text("utf-8"), ["PROD-011"])]
    assert 0 < len(collected) < 5


def test_tests_are_counted_by_what_they_name() -> None:
    assert count_tests([SUITES], ["PROD-011"]) < count_tests([SUITES], ["PROD-*"])
    assert count_tests([SUITES], ["PROD-*"]) < count_tests([SUITES], [])


def test_only_what_may_judge_is_imported(suite: SmallSuite) -> None:
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
