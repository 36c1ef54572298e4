"""Two brokers, alike or with a defect planted before one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.codec.versions import VersionRange
from harness.differential.comparison import ConversationComparison, compare_many
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.explained import Explained
from harness.differential.generator import conversations
from harness.differential.player import How, PlayedAnswer
from harness.proxies import FrameRule
from labs.defects.topic import creation_is_idempotent
from tests.differential.conftest import Pair

Compared = Callable[[FrameRule | None], ConversationComparison]


@pytest.mark.rotates(8)
def test_equal_brokers_have_no_differences(pair: Pair, compared: Compared) -> None:
    comparison = compared(None)
    found = compare_many(comparison, conversations(1, pair.shared), 400, 1, lambda *_: None)
    assert found == []
    assert comparison.counted.exchanges.total() >= 400


@pytest.mark.rotates(8)
def test_planted_defect_is_found_and_shrunk(pair: Pair, compared: Compared) -> None:
    comparison = compared(creation_is_idempotent.rule())
    found = compare_many(comparison, conversations(1, pair.shared), 2_000, 1, lambda *_: None)
    assert [(one.difference.api, one.difference.field) for one in found] == [
        ("CreateTopics", "topics.error_code")
    ]
    assert found[0].repeats
    assert found[0].difference.values == (36, 0)
    steps = found[0].conversation.steps
    assert [step.api for step in steps] == ["CreateTopics", "CreateTopics"]
    assert all(len(step.fields["topics"]) == 1 for step in steps)
    played = comparison.compare_once(found[0].conversation)
    assert played is not None
    assert played.difference == found[0].difference


def test_explained_difference_is_counted_and_not_reported(compared: Compared) -> None:
    comparison = compared(creation_is_idempotent.rule())
    comparison.explained = [
        Explained("CreateTopics", "topics.error_code", "planted", VersionRange(0, 9), (0, 36),
                  ("other", "one"))
    ]  # fmt: skip
    assert comparison.compare(created_twice()) is None
    assert comparison.counted.explained == {"planted": 1}


def created_twice() -> Conversation:
    topic = {"name": "$name-a", "num_partitions": 1, "replication_factor": 1}
    return Conversation("a test", (ConversationStep("CreateTopics", 4, {"topics": [topic]}),) * 2)


class Unreadable(FrameRule):
    """Responses at a version that the test asks are unreadable, except for the given ones."""

    def __init__(self, is_readable: Callable[[int], bool]) -> None:
        self.is_readable, self.seen = is_readable, 0

    def on_response(self, seen: object, payload: bytes) -> list[bytes]:
        if getattr(seen, "version", None) != 4:
            return [payload]
        self.seen += 1
        is_readable = self.is_readable(self.seen)
        return [payload if is_readable else payload[:4] + b"\xff" * len(payload[4:])]


def test_difference_in_every_play_repeats(compared: Compared) -> None:
    found = compared(Unreadable(lambda _: False)).compare(created_twice())
    assert found is not None
    assert found.repeats
    assert len(found.conversation.steps) == 1


@pytest.mark.parametrize("is_readable", [lambda count: count > 1, lambda count: count > 4])
def test_difference_that_some_plays_do_not_show_is_marked(
    compared: Compared, is_readable: Callable[[int], bool]
) -> None:
    comparison = compared(Unreadable(is_readable))
    found = comparison.compare(created_twice())
    assert found is not None
    assert not found.repeats
    assert found.difference.path == "how"
    assert found.answers[1].how is How.UNREADABLE


@pytest.mark.parametrize("how", [How.CLOSED, How.SILENT])
def test_closed_or_silent_connection_is_compared_by_kind(how: How) -> None:
    assert PlayedAnswer(how).compared == {"how": str(how)}
