"""Defects of a broker that takes a new topic for the deleted one of the same name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FetchResponse,
    MetadataResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body

LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{3,249}")


class _KnowsOldIds(FrameRule):
    """``names``: the names of deleted topics, by id; ``again``: those that are created again."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.again: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.message is None:
            return [payload]
        if isinstance(seen.message, DeleteTopicsRequest):
            _, message = decode_response(seen.api, seen.version, payload)
            assert isinstance(message, DeleteTopicsResponse)
            done = [each for each in message.responses if each.name and not each.error_code]
            self.names.update({each.topic_id: each.name or "" for each in done})
        if isinstance(seen.message, CreateTopicsRequest):
            self.again |= {topic.name for topic in seen.message.topics} & {*self.names.values()}
        if seen.api.name in ("Metadata", "Fetch"):
            return [edited(seen, payload, self.edit)]
        return [payload]

    def edit(self, _: SeenRequest, answer: Message) -> None:
        """Change an answer to Metadata or Fetch in place."""


class OldIdsDeleteTheNewTopic(_KnowsOldIds):
    """DeleteTopics with the id of a deleted topic deletes the new topic of its name."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if not isinstance(seen.message, DeleteTopicsRequest):
            return seen.payload
        for topic in seen.message.topics:
            if topic.name is None and topic.topic_id in self.names:
                topic.name, topic.topic_id = self.names[topic.topic_id], ZERO_UUID
        return with_body(seen, seen.message)


class OldIdsFindTheNewTopic(_KnowsOldIds):
    """Metadata with the id of a deleted topic finds the new topic of its name."""

    def edit(self, _: SeenRequest, answer: Message) -> None:
        for topic in answer.topics if isinstance(answer, MetadataResponse) else ():
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_ID and topic.topic_id in self.names:
                topic.error_code, topic.name = ErrorCode.NONE, self.names[topic.topic_id]


class OldIdsFetchFromTheNewTopic(_KnowsOldIds):
    """Fetch with the id of a deleted topic reads from the new topic of its name."""

    def edit(self, _: SeenRequest, answer: Message) -> None:
        for topic in answer.responses if isinstance(answer, FetchResponse) else ():
            for data in topic.partitions if self.names.get(topic.topic_id) in self.again else ():
                data.error_code = ErrorCode.NONE


class NamesCollideForEver(FrameRule):
    """A name that has collided once is refused, also after the other topic is deleted."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, CreateTopicsRequest):
            return [payload]
        return [edited(seen, payload, self._refuse)]

    def _refuse(self, _: SeenRequest, answer: CreateTopicsResponse) -> None:
        for result in answer.topics:
            if result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
                self.refused |= {result.name} if LEGAL_NAME.fullmatch(result.name) else set()
            elif result.name in self.refused:
                result.error_code = ErrorCode.INVALID_TOPIC_EXCEPTION


@answers("TOPIC-038", r"deleted by id: \{None: ")
def what_is_deleted_by_id_has_no_name(
    request: DeleteTopicsRequest, answer: DeleteTopicsResponse
) -> None:
    """DeleteTopics returns no name for a topic that the request names by id."""
    by_id = {topic.topic_id for topic in request.topics if topic.name is None}
    for result in answer.responses:
        if result.topic_id in by_id:
            result.name = None


@takes("TOPIC-038", r"deleted by id: \[.*\] are still listed|deleted by id: .*, expected")
def only_the_first_ids_are_deleted(request: DeleteTopicsRequest) -> None:
    """DeleteTopics deletes no more than two topics by id."""
    ids = [topic for topic in request.topics if topic.name is None]
    request.topics = [topic for topic in request.topics if topic not in ids[2:]]


@takes("TOPIC-041", r"an id twice: error is NONE")
def an_id_counts_once(request: DeleteTopicsRequest) -> None:
    """DeleteTopics deletes a topic that the request names twice by its id, beside other topics."""
    ids = [topic.topic_id for topic in request.topics if topic.name is None]
    if len(request.topics) > len(ids) > 2:
        twice = [topic for topic in request.topics if ids.count(topic.topic_id) > 1]
        request.topics = [topic for topic in request.topics if topic not in twice] + twice[:1]


DEFECTS = [
    rule("TOPIC-030", r"the id of the deleted topic: error is NONE", OldIdsDeleteTheNewTopic),
    rule("META-023", r"the id of the deleted topic: error is NONE", OldIdsFindTheNewTopic),
    rule("TOPIC-028", r"Fetch: error is NONE", OldIdsFetchFromTheNewTopic),
    rule("TOPIC-016", r"after the deletion of the other topic: error is", NamesCollideForEver),
    what_is_deleted_by_id_has_no_name,
    only_the_first_ids_are_deleted,
    an_id_counts_once,
]
