"""Of what is marked as a sample some is run, the same by everybody, and each case by some draw."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from checks.draw import NO_COMMIT, left_out

pytest_plugins = ("pytester",)
CASES = [f"tests/x.py::test_y[{number}]" for number in range(7)]
SAMPLED = """
import pytest

@pytest.mark.sample(5)
@pytest.mark.parametrize("number", range(10))
def test_sampled(number):
    assert number < 0

def test_whole():
    pass

@pytest.mark.deep
def test_deep():
    pass
"""
ROTATING = """
import pytest

pytestmark = pytest.mark.rotates(3)

@pytest.mark.parametrize("number", range(4))
def test_first(number):
    pass

def test_second():
    pass

@pytest.mark.rotates(1)
def test_always():
    pass
"""


@pytest.mark.parametrize(("share", "kept"), [(1, 7), (2, 4), (3, 3), (7, 1), (100, 1)])
def test_sample_keeps_one_case_in_n_and_at_least_one(share: int, kept: int) -> None:
    gone = left_out(CASES, share, "a draw")
    assert len(gone) == 7 - kept
    assert gone <= set(CASES)


def test_sample_is_independent_of_case_order() -> None:
    assert left_out(CASES, 3, "a draw") == left_out(CASES[::-1], 3, "a draw")


def test_every_case_is_drawn_by_some_word() -> None:
    many = [f"tests/x.py::test_y[{number}]" for number in range(50)]
    kept: list[set[str]] = [set(many) - left_out(many, 10, str(draw)) for draw in range(100)]
    assert set().union(*kept) == set(many)
    assert len(set(map(frozenset, kept))) > 90, "nearly each draw is another"


# -- a run ---------------------------------------------------------------------------------------


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    plugins = ("-p", "tests.drawn_cases", "-p", "no:cacheprovider")
    unknown_marks = ("-W", "ignore::pytest.PytestUnknownMarkWarning")
    return pytester.runpytest_inprocess(*plugins, *unknown_marks, "-v", *words)


def ran(result: pytest.RunResult) -> list[str]:
    """Names of the cases, in their order."""
    lines = [line for line in result.outlines if line.startswith("test_") and "::" in line]
    return [line.split("::")[1].split()[0] for line in lines]


def test_same_word_draws_same_cases_and_other_words_draw_others(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_a=SAMPLED)
    draws = [ran(run(pytester, "--draw", f"word {number}")) for number in range(6)]
    assert {len(each) for each in draws} == {3}
    assert all("test_whole" in each and "test_deep" not in each for each in draws)
    assert len(set(map(tuple, draws))) > 1
    assert draws[3] == ran(run(pytester, "--draw", "word 3"))
    assert len(ran(run(pytester, "--deep"))) == 12


def test_named_case_runs_with_every_draw(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=SAMPLED)
    for draw in "ab":
        assert ran(run(pytester, "--draw", draw, "test_a.py::test_deep")) == ["test_deep"]
        assert len(ran(run(pytester, "--draw", draw, "test_a.py::test_sampled"))) == 10


def test_rotating_functions_run_one_in_n_across_all_files(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_a=ROTATING, test_b=ROTATING, test_c=ROTATING)
    seen = set()
    for draw in range(12):
        names = ran(run(pytester, "--draw", str(draw)))
        assert names.count("test_always") == 3
        rest = [name for name in names if name != "test_always"]
        assert len({name.split("[")[0] for name in rest}) <= 2
        assert rest.count("test_second") + sum("test_first" in name for name in rest) / 4 == 2
        seen.update(rest)
    assert seen == {"test_second", *(f"test_first[{number}]" for number in range(4))}
    assert len(ran(run(pytester, "--deep"))) == 3 * 6


def test_run_prints_draw_and_command_that_repeats_failed_case(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_a=SAMPLED)
    result = run(pytester, "--draw", "a word")
    result.stdout.fnmatch_lines(["cases: a sample, which --draw 'a word' draws again"])
    result.stdout.fnmatch_lines(
        [
            "*drawn cases that failed (--draw 'a word')*",
            "again: pytest 'test_a.py::test_sampled[[]*",
        ]
    )
    assert "drawn cases" not in str(run(pytester, "test_a.py::test_whole").stdout)


def test_commit_draws_sample_without_word_and_workers_agree(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_a=SAMPLED)
    run(pytester).stdout.fnmatch_lines([f"cases: a sample, which --draw '{NO_COMMIT}' draws again"])
    commit = committed(pytester.path)
    alone = run(pytester)
    alone.stdout.fnmatch_lines([f"cases: a sample, which --draw {commit} draws again"])
    by_workers = run(pytester, "-n", "2")
    by_workers.assert_outcomes(failed=2, passed=1)
    for name in ran(alone):
        assert name in str(by_workers.stdout)


def committed(folder: Path) -> str:
    """A repository with one commit."""
    git = ("git", "-c", "user.name=n", "-c", "user.email=e@e")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "x")):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, text=True).strip()
