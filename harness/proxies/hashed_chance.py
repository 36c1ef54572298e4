"""Chance without a generator: every draw is a hash of what it is for.

No draw depends on how many were made before it. So a rule or toxic that is taken away never
changes what the others draw, and the same seed and traffic give the same faults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import blake2b
from statistics import NormalDist

from harness.proxies.direction import Direction

_DIGEST_BYTES = 8
_SPARE_BITS = 64 - 53  # a double holds 53
_STEPS = 2**53
_SMALLEST = 2**-54  # half a step: where a distribution has no value for 0
_NORMAL = NormalDist()


def draw(
    seed: int,
    link: str,
    connection: int,
    direction: Direction,
    frame: int,
    id: str,  # noqa: A002
    n: int = 0,
) -> float:
    """Return a number in [0, 1), evenly distributed.

    ``link`` is ``source->destination``, ``connection`` its ordinal on the link, ``frame`` the
    ordinal of the frame (of the piece, for toxics) in its direction, ``id`` the rule or toxic,
    ``n`` the number of the draw where there are several for the same frame.
    """
    told = repr((seed, link, connection, str(direction), frame, id, n))
    digest = blake2b(told.encode(), digest_size=_DIGEST_BYTES).digest()
    return (int.from_bytes(digest, "big") >> _SPARE_BITS) / _STEPS


def _uniform(chance: float) -> float:
    return 2 * chance - 1


def _normal(chance: float) -> float:
    return _NORMAL.inv_cdf(max(chance, _SMALLEST))


def _exponential(chance: float) -> float:
    return -math.log1p(-chance)


DISTRIBUTIONS: dict[str, Callable[[float], float]] = {
    "uniform": _uniform,
    "normal": _normal,
    "exponential": _exponential,
}
"""By name, from a draw to a factor of the jitter. uniform: -1 to 1; normal: any number, deviation
1; exponential: 0 and above, mean 1.
"""


def jittered(base: float, jitter: float, distribution: str, chance: float) -> float:
    """Return ``base`` plus a part of ``jitter``, at least 0. Raises KeyError: no distribution."""
    return max(0.0, base + jitter * DISTRIBUTIONS[distribution](chance))


def permutation(count: int, draw_nth: Callable[[int], float]) -> list[int]:
    """The numbers below ``count``, shuffled; ``draw_nth(n)`` is the n-th draw for it."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = int(draw_nth(last) * (last + 1))
        order[last], order[other] = order[other], order[last]
    return order
