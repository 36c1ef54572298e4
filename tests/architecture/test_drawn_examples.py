"""Examples are the same in each run, others with ``--deep``, and no example has a deadline."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsed_source import parsed

pytestmark = pytest.mark.rotates(8)  # most of them start a pytest of their own

pytest_plugins = ("pytester",)
TESTS = Path(__file__).parents[1]
DRAWING = """
from hypothesis import given, settings, strategies as st

SHARED = settings(max_examples=3)

@settings(SHARED, max_examples=5)
@given(st.integers())
def test_numbers(number):
    assert SHARED.deadline is SHARED.database is None
    print("drew", number)
"""


def test_settings_without_options_use_gate_profile(
    request: pytest.FixtureRequest,
) -> None:
    made = settings(max_examples=7)
    assert (made.deadline, made.database) == (None, None)
    assert made.derandomize is not request.config.getoption("deep")


@given(st.integers())
def test_property_test_without_settings_has_no_deadline(number: int) -> None:
    assert settings().deadline is None
    assert number == int(number)


def deadlines() -> Iterator[str]:
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(parsed(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("settings"):
                for word in node.keywords:
                    if word.arg == "deadline" and ast.unparse(word.value) != "None":
                        yield f"{path.relative_to(TESTS)}:{node.lineno}: {ast.unparse(word)}"


def test_no_hypothesis_settings_set_deadline() -> None:
    assert list(deadlines()) == []


def drawn(pytester: pytest.Pytester, *words: str) -> tuple[list[str], str]:
    """The examples, and the header's line."""
    pytester.makepyfile(test_drawing=DRAWING)
    pytester.makeconftest("from tests.drawn_examples import load\n\nload('gate')\n")
    plugins = ("-p", "tests.drawn_cases", "-p", "tests.drawn_examples", "-p", "no:cacheprovider")
    result = pytester.runpytest_subprocess(*plugins, "-rP", *words)
    result.assert_outcomes(passed=1)
    said = str(result.stdout)
    (header,) = re.findall(r"^examples: .*", said, re.MULTILINE)
    return re.findall(r"^drew .*", said, re.MULTILINE), header


@pytest.fixture(autouse=True)
def _our_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS.parent))


def test_gate_draws_same_examples_in_each_run(pytester: pytest.Pytester) -> None:
    first, header = drawn(pytester)
    assert len(first) == 5
    assert drawn(pytester) == (first, header)
    assert header == "examples: the same in each run"


def test_deep_run_draws_new_examples_and_prints_seed_to_repeat_them(
    pytester: pytest.Pytester,
) -> None:
    first, header = drawn(pytester, "--deep")
    found = re.search(r"--hypothesis-seed=\d+", header)
    assert found
    again, _ = drawn(pytester, "--deep", found[0])
    assert again == first
    assert drawn(pytester, "--deep")[0] != first
    assert drawn(pytester, "--deep", found[0], "-n", "1")[0] == first, "a worker has the seed too"
