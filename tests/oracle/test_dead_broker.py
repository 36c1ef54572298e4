"""Conversations that end a broker: the difference is kept, and the API is not judged further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness.client.errors import ConnectionClosed
from harness.differential.comparison import ConversationComparison
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.player import How, PlayedAnswer
from harness.oracle.api_differences import ApiDifferences, api_differences

STEPS = tuple(ConversationStep(api, 0, {}) for api in ("ApiVersions", "Produce", "Fetch"))


@dataclass
class Side:
    """A side that answers all requests, or has ended at a Produce."""

    spec: str
    ends: bool = False
    ended: bool = False

    def play(
        self, conversation: Conversation, prefix: str, base_ms: int, *, patient: bool = False
    ) -> list[PlayedAnswer]:
        del prefix, base_ms, patient
        if self.ended:
            raise ConnectionClosed("cannot connect")
        answers = []
        for step in conversation.steps:
            self.ended = self.ended or (self.ends and step.api == "Produce")
            answers.append(PlayedAnswer(How.CLOSED if self.ended else How.ANSWERED))
        return answers


def _conversations() -> Iterator[Conversation]:
    while True:
        yield Conversation("drawn", STEPS)


def _differences(api: str, target: Side) -> ApiDifferences:
    comparison = ConversationComparison((Side("right"), target), "kc-", explained=())
    try:
        return api_differences(comparison, api, _conversations(), exchanges=9)
    finally:
        comparison.close()


@pytest.mark.parametrize("api", ["Produce", "Fetch"])
def test_request_that_ends_broker_is_difference_of_its_api(api: str) -> None:
    found = _differences(api, Side("fragile", ends=True))
    of_produce = [found.own] if api == "Produce" else [*found.of_companions]
    (one,) = (each for each in of_produce if each is not None)
    assert one.repeats
    assert (one.difference.api, one.difference.path) == ("Produce", "how")
    assert [step.api for step in one.conversation.steps] == ["ApiVersions", "Produce"]


def test_broker_that_cannot_be_reached_at_all_is_no_difference() -> None:
    with pytest.raises(ConnectionClosed):
        _differences("Fetch", Side("absent", ended=True))
