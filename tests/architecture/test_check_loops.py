"""Checks judge several specimens as subtests; the loops that are none may only become fewer."""

from __future__ import annotations

import ast

from tests.architecture.check_loops import loops_in, plain_loops, recorded


def test_no_check_gets_loop_without_subtests() -> None:
    allowed, found = recorded(), plain_loops()
    more = {place: number for place, number in found.items() if number > allowed.get(place, 0)}
    assert not more, (
        f"loops inside of checks without subtests: {more}; judge each pass by "
        "`with check.subtest(name):`, or record steps that build on each other: "
        "python -m tests.architecture.check_loops"
    )
    fewer = {place for place, number in allowed.items() if found.get(place, 0) < number}
    assert not fewer, f"record that there are fewer: {fewer}"


def test_loops_are_counted_outside_of_subtests_alone() -> None:
    source = """
def test_it(broker):
    with requirement("A-1") as check:
        for name in NAMES:
            with check.subtest(name):
                for each in name:
                    assert each
        for name in NAMES:
            for each in name:
                assert each
        with in_time(3):
            for name in NAMES:
                assert name
        for _ in range(3):
            assert broker
"""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert loops_in(function) == 2
