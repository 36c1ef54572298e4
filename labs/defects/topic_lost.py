"""Defects of area TOPIC: a broker that takes a retry for the request with the lost answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule


class _RetryGetsTheFirstAnswer(FrameRule):
    api = ""

    def __init__(self) -> None:
        self.answered: dict[bytes, bytes] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != self.api:
            return [payload]
        return [self.answered.setdefault(seen.payload, payload)]


class RepeatedCreationGetsTheFirstAnswer(_RetryGetsTheFirstAnswer):
    """The broker repeats its first answer to a CreateTopics with the same bytes."""

    api = "CreateTopics"


class RepeatedGrowthGetsTheFirstAnswer(_RetryGetsTheFirstAnswer):
    """The broker repeats its first answer to a CreatePartitions with the same bytes."""

    api = "CreatePartitions"


DEFECTS = [
    rule(
        "TOPIC-006", r"the retry: error is NONE \(0\), expected", RepeatedCreationGetsTheFirstAnswer
    ),
    rule(
        "TOPIC-025", r"the retry: error is NONE \(0\), expected", RepeatedGrowthGetsTheFirstAnswer
    ),
]
