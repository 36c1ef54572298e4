import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.verdict import Verdict, worst

ORDER = [
    "harness_error",
    "failed",
    "inconclusive",
    "warning",
    "passed",
    "not_applicable",
    "not_supported",
]


def test_verdict_names_and_order_match_published_ones() -> None:
    assert [verdict.value for verdict in Verdict] == ORDER


@pytest.mark.parametrize("place", range(7))
def test_worst_returns_most_severe_verdict(place: int) -> None:
    milder = [Verdict(name) for name in reversed(ORDER[place:])]
    assert worst(milder) is Verdict(ORDER[place])


def test_worst_of_no_verdicts_raises_value_error() -> None:
    with pytest.raises(ValueError, match="no verdicts to join"):
        worst([])


verdicts = st.lists(st.sampled_from(Verdict), min_size=1)


@given(verdicts, verdicts)
def test_worst_is_associative_and_independent_of_order(
    one: list[Verdict], other: list[Verdict]
) -> None:
    assert worst([worst(one), worst(other)]) is worst(other + one)
    assert worst(one) in one
