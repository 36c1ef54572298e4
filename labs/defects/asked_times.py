"""Answers to ListOffsets, paired with the times of the request."""

from __future__ import annotations

from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.structs import Message

Told = ListOffsetsResponse.ListOffsetsPartitionResponse


def asked_and_told(request: Message | None, answer: Message) -> list[tuple[int, Told]]:
    """Each time with its answer; an empty list if ``answer`` is not of ListOffsets."""
    if not isinstance(answer, ListOffsetsResponse):
        return []
    assert isinstance(request, ListOffsetsRequest)
    asked = [one.timestamp for topic in request.topics for one in topic.partitions]
    told = [one for topic in answer.topics for one in topic.partitions]
    return list(zip(asked, told, strict=True))


def told_of(request: Message | None, answer: Message, time: int) -> list[Told]:
    """The answers for this time."""
    return [told for asked, told in asked_and_told(request, answer) if asked == time]
