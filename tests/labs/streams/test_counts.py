"""The judgement of a Streams application's output, and a run of it that is killed."""

from __future__ import annotations

from collections import Counter

import pytest
from click.testing import CliRunner

from labs.streams.__main__ import main
from labs.streams.counts import wrong_counts
from tests.targets.kinds import need_kafka

WRITTEN = Counter({"a": 3, "b": 1})
EXACT = ["a 1", "b 1", "a 2", "a 3"]


def test_counts_in_order_are_exact() -> None:
    assert wrong_counts(EXACT, WRITTEN) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (EXACT[:-1], r"a: 2 of 3, twice [], missing [3], in order True"),
        ([*EXACT, "a 3"], r"a: 4 of 3, twice [3], missing [], in order True"),
        (["a 1", "a 3", "a 2", "b 1"], r"a: 3 of 3, twice [], missing [], in order False"),
        ([*EXACT, "a 4"], r"a: 4 of 3, twice [], missing [], in order True"),
        ([*EXACT, "c 1"], r"c: 1 of 0, twice [], missing [], in order True"),
        (EXACT[:1] + EXACT[2:], r"b: 0 of 1, twice [], missing [1], in order True"),
    ],
)
def test_each_wrong_count_is_a_problem(values: list[str], said: str) -> None:
    assert wrong_counts(values, WRITTEN) == [said]


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("target", ["reference", "kafka:4.4.0"])
def test_output_of_a_killed_application_is_exact(target: str) -> None:
    need_kafka()
    ended = CliRunner().invoke(main, ["--target", target, "--seed", "2", "--kills", "2"])
    assert ended.exit_code == 0, ended.output
    assert ": exact; " in ended.output
