"""What an answer to ListOffsets says, beside the times that were asked for."""

from __future__ import annotations

from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest

Told = ListOffsetsResponse.ListOffsetsPartitionResponse


def asked_and_told(seen: SeenRequest, answer: Message) -> list[tuple[int, Told]]:
    """Each time with what is said of it; nothing where the answer is another."""
    if not isinstance(answer, ListOffsetsResponse):
        return []
    assert isinstance(seen.message, ListOffsetsRequest)
    asked = [one.timestamp for topic in seen.message.topics for one in topic.partitions]
    told = [one for topic in answer.topics for one in topic.partitions]
    return list(zip(asked, told, strict=True))


def told_of(seen: SeenRequest, answer: Message, time: int) -> list[Told]:
    """What is said of this time."""
    return [told for asked, told in asked_and_told(seen, answer) if asked == time]
