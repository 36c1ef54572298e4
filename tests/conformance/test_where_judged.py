"""Where a requirement is judged."""

import ast
from pathlib import Path

from harness.base.bundle import suites_root
from harness.conformance.where_judged import (
    JudgingTest,
    defects,
    files_that_judge,
    judging_tests,
    requirements_with_tests,
)

SUITE = '''
@judges("GRP-001", "GRP-002")
@at_versions("JoinGroup", "0-3", "4+")
def test_join(group):
    pass


@judges("GRP-002")
@at_versions("Heartbeat")
@pytest.mark.parametrize("word", ["GRP-001"])
def test_heartbeat(group, word):
    """About "GRP-001" too, which it does not judge."""


@judges("GRP-002")
def test_sync(group):
    pass
'''


def test_judging_tests_finds_tests_by_judges_mark(tmp_path: Path) -> None:
    (tmp_path / "suites" / "protocol").mkdir(parents=True)
    (tmp_path / "suites" / "protocol" / "test_grp.py").write_text(SUITE)
    place = "suites/protocol/test_grp.py"
    assert judging_tests("GRP-001", tmp_path) == [
        JudgingTest(f"{place}:4", "test_join", "JoinGroup 0-3, 4+")
    ]
    assert [str(test) for test in judging_tests("GRP-002", tmp_path)] == [
        f"{place}:4 test_join (JoinGroup 0-3, 4+)",
        f"{place}:11 test_heartbeat (Heartbeat all)",
        f"{place}:16 test_sync",
    ]
    assert judging_tests("GRP-003", tmp_path) == []


def test_defects_returns_lines_of_rules_or_empty_list(tmp_path: Path) -> None:
    assert defects("GRP-001", tmp_path) == []
    (tmp_path / "labs" / "defects").mkdir(parents=True)
    (tmp_path / "labs" / "defects" / "grp.py").write_text('x\nrule("GRP-001", x)\n"GRP-0011"\n')
    assert defects("GRP-001", tmp_path) == ["labs/defects/grp.py:2"]


def test_tested_requirements_are_those_of_judges_marks(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_groups.py").write_text(SUITE)
    assert requirements_with_tests(tmp_path) == {"GRP-001", "GRP-002"}


def test_files_of_requirements_are_those_with_their_judges_marks(tmp_path: Path) -> None:
    folder = tmp_path / "suites" / "groups"
    folder.mkdir(parents=True)
    (folder / "test_groups.py").write_text(SUITE)
    (folder / "test_other.py").write_text('@judges("GRP-009")\ndef test_other(): "GRP-001"\n')
    assert files_that_judge({"GRP-002", "GRP-008"}, tmp_path / "suites") == [
        folder / "test_groups.py"
    ]
    assert files_that_judge({"GRP-008"}, tmp_path / "suites") == []


def test_quick_search_of_tested_requirements_agrees_with_the_syntax_tree() -> None:
    root, marked = suites_root(), set()
    for file in (root / "suites").rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "judges":
                marked |= {word.value for word in node.args if isinstance(word, ast.Constant)}
    assert requirements_with_tests(root) == marked
