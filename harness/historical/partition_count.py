"""The number of partitions that a topic needs for the throughput of its consumers.

"How to choose a number of partitions": one consumer of a group consumes a partition, so a topic
needs as many partitions as consumers: the expected throughput divided by that of one consumer.
"""

from __future__ import annotations

from fractions import Fraction


def partition_count(expected_per_s: int | Fraction, one_consumer_per_s: int | Fraction) -> int:
    """Return the quotient, rounded up; at least 1, since a topic has a partition.

    Both arguments have the same unit, messages or bytes. No floats: 1.1 / 0.1 would be 12.

    Raises:
        ValueError: a negative throughput, or a consumer that consumes nothing.
    """
    if expected_per_s < 0 or one_consumer_per_s <= 0:
        raise ValueError(f"{expected_per_s} by {one_consumer_per_s} has no meaning")
    return max(1, -(-expected_per_s // one_consumer_per_s))
