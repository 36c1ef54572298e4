"""Answers to ListOffsets, paired with the times of the request."""

from __future__ import annotations

from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest

Told = ListOffsetsResponse.ListOffsetsPartitionResponse


def asked_and_told(seen: SeenRequest, answer: Message) -> list[tuple[int, Told]]:
    """Each time with its answer; an empty list if ``answer`` is not of ListOffsets."""
    if not isinstance(answer, ListOffsetsResponse):
        return []
    assert isinstance(seen.message, ListOffsetsRequest)
    asked = [one.timestamp for topic in seen.message.topics for one in topic.partitions]
    told = [one for topic in answer.topics for one in topic.partitions]
    return list(zip(asked, told, strict=True))


def told_of(seen: SeenRequest, answer: Message, time: int) -> list[Told]:
    """The answers for this time."""
    return [told for asked, told in asked_and_told(seen, answer) if asked == time]
