"""Defects that show after a restart of a private broker, on which a test has one topic."""

from __future__ import annotations

from collections.abc import Callable

from harness.codec.messages import (
    CreateTopicsRequest,
    FetchRequest,
    FetchResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import Defect, rule
from labs.defects.newest_topic import NewestTopic

Edit = Callable[["StartedAgain", SeenRequest, Message], None]


class StartedAgain(NewestTopic):
    """Base of rules that follow a restart.

    ``partitions``: of the newest topic; ``ends``: where each ended before the restart. A request on
    another connection than that of the topic's creation comes after the restart.
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
        """True if the broker was started again since the topic was made."""
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
    """Make a defect in any answer after the restart.

    It strikes if the newest topic has so many ``partitions`` (any number by default), and configs
    exactly if ``rolled``: by these it recognizes its test.
    """

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
    """True for a Fetch that reads only committed records."""
    return isinstance(seen.message, FetchRequest) and seen.message.isolation_level == 1
