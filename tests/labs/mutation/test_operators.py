"""Each operator makes the changes that its docstring states, and no others."""

from __future__ import annotations

import ast

import pytest

from harness.codec.error_code import ErrorCode
from labs.mutation.enumeration import mutants_of
from labs.mutation.operators import OPERATORS

NEXT = list(ErrorCode)[list(ErrorCode).index(ErrorCode.INVALID_REQUEST) + 1].name


def _changes(operator: str, body: str) -> list[str]:
    source = f"def function(self, a, b):\n    {body}\n"
    found = mutants_of("harness.reference_broker.any", source)
    return [one.after for one in found if one.operator == operator]


@pytest.mark.parametrize(
    ("operator", "body", "after"),
    [
        ("boundary", "return a < b", ["a <= b"]),
        ("boundary", "return a >= b", ["a > b"]),
        ("boundary", "return a == b", []),
        ("turned", "return a == b", ["a != b"]),
        ("turned", "return a not in b", ["a in b"]),
        ("condition", "return 1 if a else 2", ["True", "False"]),
        ("condition", "return [c for c in a if c]", ["True"]),
        ("operand", "return a and b", ["b", "a"]),
        ("operand", "return a or b or self", ["b or self", "a or self", "a or b"]),
        ("negation", "return not a", ["a"]),
        ("off-by-one", "return a[1:]", ["2", "0"]),
        ("off-by-one", "return a + 1", ["a", "2", "0"]),
        ("least-most", "return min(a, b)", ["max(a, b)", "a", "b"]),
        ("least-most", "return min(a)", ["max(a)"]),
        ("release", "return self.like.since(2, 8)", ["True", "False"]),
        ("version", "return api_version >= a", ["api_version >= a + 1", "api_version >= a - 1"]),
        ("version", "return a >= 3", []),
        ("error-code", "return ErrorCode.INVALID_REQUEST",
         [f"ErrorCode.{name}" for name in sorted((NEXT, "NONE"))]),
        ("error-code", "return ErrorCode.describe", []),
        ("skipped", "self.a = b", ["pass"]),
        ("skipped", "a = b", []),
        ("repeated", "self.a += 1", ["self.a += 1; self.a += 1"]),
        ("timer", "self.set_alarm(a)", ["pass"]),
        ("not-written", "self.file.write(a)", ["pass"]),
        ("order", "self.a = 1; self.b = self.a", ["self.b = self.a; self.a = 1"]),
        ("order", "self.a = 1; self.b = b()", ["self.b = b(); self.a = 1"]),
        ("order", "self.a = 1; self.b = 2", []),
        ("early-return", "self.a = 1; self.b = 2", ["return"]),
        ("early-return", "self.a = 1; return b", []),
        ("loop", "return [c for c in a]", ["list(a)[1:]", "list(a)[:-1]"]),
        ("default", "return Answer(a=a, b=0)", ["Answer(b=0)"]),
        ("default", "return answer(a=a)", []),
        ("null", "return None", ["''"]),
        ("null", "return []", ["None"]),
        ("like-variable", "return a.isr + b.replicas + a.replicas",
         ["a.replicas", "a.isr"]),
    ],
)  # fmt: skip
def test_operator_makes_its_changes(operator: str, body: str, after: list[str]) -> None:
    assert sorted(_changes(operator, body)) == sorted(after)


def test_every_operator_has_an_example_above() -> None:
    marks = test_operator_makes_its_changes.pytestmark  # type: ignore[attr-defined]
    examples = {operator for operator, _, after in marks[0].args[1] if after}
    assert examples == set(OPERATORS)


def test_proposals_leave_the_source_as_it_is() -> None:
    tree = ast.parse("def function(a, b):\n    return min(a, b) < 1 and not a\n")
    before = ast.dump(tree)
    for node in ast.walk(tree):
        for propose in OPERATORS.values():
            list(propose(node))
    assert ast.dump(tree) == before
