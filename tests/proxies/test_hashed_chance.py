"""Random choices by a hash: even, repeatable, and independent for each rule."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import pytest

from harness.proxies.direction import Direction
from harness.proxies.hashed_chance import DISTRIBUTIONS, draw, jittered, permutation

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
MANY = 20_000


def draws(count: int = MANY, rule: str = "r") -> Iterator[float]:
    return (draw(1, "client->broker", 0, UP, frame, rule) for frame in range(count))


def test_draw_of_known_inputs_returns_fixed_values() -> None:
    """A seed that is written down must mean the same faults for ever."""
    assert draw(0, "client->broker", 0, UP, 0, "r") == 0.43666557471393985
    assert draw(7, "1->2", 3, DOWN, 41, "late", 2) == 0.19403200044840774


def test_draws_are_uniformly_distributed() -> None:
    counts = [0] * 10
    for value in draws():
        assert 0 <= value < 1
        counts[int(value * 10)] += 1
    assert max(abs(count - MANY / 10) for count in counts) < 200


def test_draw_differs_for_each_changed_argument() -> None:
    fors = [
        (1, "client->broker", 0, UP, 0, "r", 0),
        (2, "client->broker", 0, UP, 0, "r", 0),
        (1, "1->2", 0, UP, 0, "r", 0),
        (1, "client->broker", 1, UP, 0, "r", 0),
        (1, "client->broker", 0, DOWN, 0, "r", 0),
        (1, "client->broker", 0, UP, 1, "r", 0),
        (1, "client->broker", 0, UP, 0, "s", 0),
        (1, "client->broker", 0, UP, 0, "r", 1),
        (1, "client->broker', 0", 0, UP, 0, "r", 0),
    ]
    assert len({draw(*one) for one in fors}) == len(fors)


def test_draw_accepts_direction_made_from_text() -> None:
    assert draw(1, "l", 0, Direction("upstream"), 0, "r") == draw(1, "l", 0, UP, 0, "r")


@pytest.mark.parametrize(
    ("distribution", "mean", "low"), [("uniform", 0, -1), ("normal", 0, -10), ("exponential", 1, 0)]
)
def test_distribution_has_expected_mean_and_lower_bound(
    distribution: str, mean: int, low: int
) -> None:
    values = [DISTRIBUTIONS[distribution](value) for value in draws()]
    assert abs(sum(values) / MANY - mean) < 0.03
    assert min(values) >= low


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_jittered_time_is_never_negative(distribution: str) -> None:
    for chance in (0.0, 0.5, 1 - 2**-53):
        assert jittered(10, 100, distribution, chance) >= 0
        assert jittered(10, 0, distribution, chance) == 10


def test_permutation_draws_produce_every_order() -> None:
    seen = {tuple(permutation(4, partial(draw, 1, "l", 0, UP, frame, "r"))) for frame in range(500)}
    assert seen == set(itertools.permutations(range(4)))
    assert permutation(0, lambda _: 0.5) == []
