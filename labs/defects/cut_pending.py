"""A defect of area REPL: an ISR that a leader has only proposed counts already."""

from __future__ import annotations

from harness.codec.messages import FetchResponse, ProduceRequest
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import rule
from labs.defects.newest_topic import NewestTopic
from labs.defects.one_node import of_cluster

COMMITTED, LEADER_ALONE = 3, 1


class WhoIsToGoIsNotWaitedFor(NewestTopic):
    """The high watermark advances without a follower that the controller has not removed."""

    def __init__(self) -> None:
        super().__init__()
        self.acks = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, ProduceRequest):
            self.acks = seen.message.acks
        return super().on_request(seen)

    def answer(self, seen: SeenRequest, answer: Message) -> None:
        is_written = self.produced == COMMITTED + 1 and self.acks == LEADER_ALONE
        if isinstance(answer, FetchResponse) and is_written:
            for topic in answer.responses:
                for each in topic.partitions:
                    if each.high_watermark == COMMITTED:
                        each.high_watermark += 1


DEFECTS = of_cluster(
    [rule("REPL-016", r"the high watermark is 4, \d has 3", WhoIsToGoIsNotWaitedFor)], private=True
)
