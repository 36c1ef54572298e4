"""Defects of area TOPIC: changes and deletion of existing topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FetchResponse,
    ListOffsetsResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import takes, with_body

OLD_END = 2
MOST_PARTITIONS = 10_000  # of a request


@takes("TOPIC-024", r"asked for 3 partitions, there are \[0, 1, 2, 3\]")
def the_count_is_added(request: CreatePartitionsRequest) -> None:
    """CreatePartitions adds the requested count to the existing one."""
    for topic in request.topics:
        if topic.count == 3 and not request.validate_only:
            topic.count += 1


class RecreatedTopicsKeepConfigs(FrameRule):
    """A topic that is created again has the configs of the deleted one too."""

    def __init__(self) -> None:
        self._given: dict[str, list[CreateTopicsRequest.CreatableTopicConfig]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if not isinstance(seen.message, CreateTopicsRequest):
            return seen.payload
        for topic in seen.message.topics:
            named = {config.name for config in topic.configs}
            kept = [each for each in self._given.get(topic.name, ()) if each.name not in named]
            topic.configs += kept
            self._given[topic.name] = list(topic.configs)
        return with_body(seen, seen.message)


class DeletedTopics:
    """Names of the topics that were deleted in the observed traffic."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def hear(self, seen: SeenRequest, payload: bytes) -> None:
        """Add the names from an answer to DeleteTopics."""
        if not isinstance(seen.message, DeleteTopicsRequest) or seen.api is None:
            return
        _, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, DeleteTopicsResponse)
        self.names |= {r.name for r in message.responses if r.name and not r.error_code}


class EditAfterDeletion(FrameRule):
    """Change the answers of one API by the topics that were deleted before."""

    api: str

    def __init__(self) -> None:
        self.deleted = DeletedTopics()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        self.deleted.hear(seen, payload)
        if seen.message is None or seen.api is None or seen.api.name != self.api:
            return [payload]
        return [edited(seen, payload, self.edit)]

    def edit(self, seen: SeenRequest, message: Message) -> None:
        """Change the message in place."""
        raise NotImplementedError


class DeletedTopicsHaveNoLeader(EditAfterDeletion):
    """Fetch from a deleted topic by its name returns LEADER_NOT_AVAILABLE."""

    api = "Fetch"

    def edit(self, seen: SeenRequest, message: Message) -> None:
        assert isinstance(message, FetchResponse)
        for topic in message.responses:
            for data in topic.partitions:
                unknown = data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                if topic.topic in self.deleted.names and unknown:
                    data.error_code = ErrorCode.LEADER_NOT_AVAILABLE


class OffsetsOutliveTheTopic(EditAfterDeletion):
    """A recreated topic continues at the offset where the deleted one ended."""

    api = "ListOffsets"

    def edit(self, seen: SeenRequest, message: Message) -> None:
        assert isinstance(message, ListOffsetsResponse)
        for topic in message.topics:
            for partition in topic.partitions:
                if topic.name in self.deleted.names and not partition.error_code:
                    partition.offset += OLD_END


@takes("TOPIC-031", r"both: error is NONE \(0\), expected INVALID_REQUEST")
def the_name_outweighs_the_id(request: DeleteTopicsRequest) -> None:
    """DeleteTopics of one topic ignores its id if it has name and id."""
    if len(request.topics) == 1 and request.topics[0].name is not None:
        request.topics[0].topic_id = ZERO_UUID


@takes("TOPIC-039", r"(5001\) partitions: .*|beside an illegal name): error is NONE")
def each_topic_has_its_own_limit(request: CreateTopicsRequest) -> None:
    """CreateTopics counts the partitions of each topic alone against the limit of a request."""
    if sum(topic.num_partitions for topic in request.topics) > MOST_PARTITIONS:
        for topic in request.topics:
            if topic.num_partitions <= MOST_PARTITIONS:
                topic.num_partitions = min(topic.num_partitions, 2)


@takes("TOPIC-040", r"up to \(1000\d, 2\): .*: error is NONE")
def each_growth_has_its_own_limit(request: CreatePartitionsRequest) -> None:
    """CreatePartitions counts the partitions of each topic alone against the limit of a request."""
    if len(request.topics) > 1:
        for topic in request.topics:
            topic.count = min(topic.count, MOST_PARTITIONS)


DEFECTS = [
    rule("TOPIC-037", r"created with \{\}, the topic has \{'", RecreatedTopicsKeepConfigs),
    the_count_is_added,
    changed_field("TOPIC-025", "too_few_partitions_are_ignored",
        r"(instead of 2|the retry): error is NONE \(0\)",
        "CreatePartitions accepts a count that is no increase, and does nothing.",
        CreatePartitionsResponse, "results.error_code",
        ErrorCode.INVALID_PARTITIONS, ErrorCode.NONE, also={"error_message": None}),
    changed_field("TOPIC-027", "growth_is_never_only_validated",
        r"3 partitions after a validation, 2 before",
        "CreatePartitions ignores validate_only.",
        CreatePartitionsRequest, "validate_only", ANY, False),
    rule(
        "TOPIC-028",
        r"Fetch: error is LEADER_NOT_AVAILABLE \(5\), expected UNKNOWN_TOPIC_OR_PARTITION",
        DeletedTopicsHaveNoLeader,
    ),
    rule("TOPIC-029", r"the log goes from 2 to 2", OffsetsOutliveTheTopic),
    changed_field("TOPIC-030", "an_unknown_id_is_an_unknown_name",
        r"error is UNKNOWN_TOPIC_OR_PARTITION \(3\), expected UNKNOWN_TOPIC_ID",
        "DeleteTopics answers an unknown topic id with UNKNOWN_TOPIC_OR_PARTITION.",
        DeleteTopicsResponse, "responses.error_code",
        ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    the_name_outweighs_the_id,
    each_topic_has_its_own_limit,
    replace(each_growth_has_its_own_limit, private=True),
]  # fmt: skip
