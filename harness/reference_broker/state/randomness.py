"""Random choices of the state; the caller supplies the source of random numbers."""

from collections.abc import Sequence
from typing import Protocol, TypeVar
from uuid import UUID

T = TypeVar("T")
_WORD_BITS = 32


class Randomness(Protocol):
    """The part of `random.Random` that the state uses."""

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of `k` random bits, 0 or more."""
        ...


def below(limit: int, randomness: Randomness) -> int:
    """Return a number from 0 to before `limit`; without a choice, no random number is drawn."""
    return 0 if limit == 1 else randomness.getrandbits(_WORD_BITS) % limit


def shuffled(items: Sequence[T], randomness: Randomness) -> list[T]:
    """Return the items in a random order."""
    mixed = list(items)
    for last in range(len(mixed) - 1, 0, -1):
        other = below(last + 1, randomness)
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed


def random_uuid(randomness: Randomness) -> UUID:
    """Return a version 4 UUID that Kafka does not reserve and that does not start with "-" as text.

    Kafka avoids the leading dash so that command lines do not take an id for an option (class
    org.apache.kafka.common.Uuid).
    """
    while True:
        candidate = UUID(int=randomness.getrandbits(128), version=4)
        if candidate.int > 1 and candidate.bytes[0] >> 2 != _DASH:
            return candidate


_DASH = 62  # the value of "-" in url-safe base64
