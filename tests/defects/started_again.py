"""Defects that show when a broker of a test's own is started again: a test has one topic there."""

from __future__ import annotations

from collections.abc import Callable

from harness.codec.messages import (
    CreateTopicsRequest,
    FetchRequest,
    FetchResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from tests.defects.defect import Defect, rule
from tests.defects.newest_topic import NewestTopic

Edit = Callable[["StartedAgain", SeenRequest, Message], None]


class StartedAgain(NewestTopic):
    """``partitions`` of the newest topic, and ``ends`` where each ended before its broker did.

    Whoever comes on another connection than the topic was made on comes after the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.partitions = 0
        self.ends: dict[int, int] = {}
        self._made_on = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, CreateTopicsRequest):
            self._made_on, self.ends = seen.place.connection, {}
            self.partitions = seen.message.topics[0].num_partitions
        return super().on_request(seen)

    def is_again(self, seen: SeenRequest) -> bool:
        """Whether the broker was started again since the topic was made."""
        return bool(self.name) and seen.place.connection > self._made_on

    def answer(self, seen: SeenRequest, answer: Message) -> None:
        if self.is_again(seen):
            self.after(seen, answer)
        elif isinstance(answer, FetchResponse):
            self.ends |= {
                one.partition_index: one.high_watermark
                for topic in answer.responses
                for one in topic.partitions
            }

    def after(self, seen: SeenRequest, answer: Message) -> None:
        """Edit an answer of the broker that was started again."""


def after_start(
    requirement: str, reason: str, *, partitions: int | None = None, rolled: bool = False
) -> Callable[[Edit], Defect]:
    """A defect in any answer after the start, where the newest topic has so many ``partitions``
    (any, without), and settings of its own if it is ``rolled``: by these a test is known."""

    def make(edit: Edit) -> Defect:
        class Edited(StartedAgain):
            def after(self, seen: SeenRequest, answer: Message) -> None:
                is_meant = partitions in (None, self.partitions)
                if is_meant and bool(self.configs) == rolled:
                    edit(self, seen, answer)

        Edited.__name__, Edited.__doc__ = edit.__name__, edit.__doc__
        return rule(requirement, reason, Edited)

    return make


def reads_committed(seen: SeenRequest) -> bool:
    """Whether it is a fetch of committed records alone."""
    return isinstance(seen.message, FetchRequest) and seen.message.isolation_level == 1
