"""Where random numbers come from is the caller's business."""

from typing import Protocol
from uuid import UUID


class Randomness(Protocol):
    """The part of `random.Random` that the state uses."""

    def getrandbits(self, k: int, /) -> int:
        """An integer of `k` random bits, 0 or more."""
        ...


def random_uuid(randomness: Randomness) -> UUID:
    """A version 4 UUID; never one that Kafka reserves, and never one whose text starts with "-".

    Kafka avoids the leading dash so that command lines do not take an id for an option
    (class org.apache.kafka.common.Uuid).
    """
    while True:
        candidate = UUID(int=randomness.getrandbits(128), version=4)
        if candidate.int > 1 and candidate.bytes[0] >> 2 != _DASH:
            return candidate


_DASH = 62  # the value of "-" in url-safe base64
