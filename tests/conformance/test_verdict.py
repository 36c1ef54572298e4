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


def test_names_and_order_are_the_published_ones() -> None:
    assert [verdict.value for verdict in Verdict] == ORDER


@pytest.mark.parametrize("place", range(7))
def test_a_verdict_wins_over_all_milder_ones(place: int) -> None:
    milder = [Verdict(name) for name in reversed(ORDER[place:])]
    assert worst(milder) is Verdict(ORDER[place])


def test_nothing_has_no_verdict() -> None:
    with pytest.raises(ValueError, match="no verdicts to join"):
        worst([])


verdicts = st.lists(st.sampled_from(Verdict), min_size=1)


@given(verdicts, verdicts)
def test_joining_is_associative_and_does_not_mind_order(
    one: list[Verdict], other: list[Verdict]
) -> None:
    assert worst([worst(one), worst(other)]) is worst(other + one)
    assert worst(one) in one
