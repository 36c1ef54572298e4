"""Defects of area META."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request, encode_response
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from

CLOSED_PORT = 1
NO_BROKER_ID = 987_654


def _answer(message: Message) -> MetadataResponse:
    assert isinstance(message, MetadataResponse)
    return message


def _reencoded(seen: SeenRequest, message: Message) -> bytes:
    """Return the request with another body."""
    header = seen.header
    assert header is not None
    return encode_request(message, seen.version, header.correlation_id, header.client_id)


class EmptyListGetsAll(FrameRule):
    """Metadata v1 to v8 answers an empty list with all topics, as v0 does."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if (
            isinstance(asked, MetadataRequest)
            and seen.version in range(1, 9)
            and asked.topics == []
        ):
            asked.topics = None
            return _reencoded(seen, asked)
        return seen.payload


class TwoNamesGetAll(FrameRule):
    """Metadata answers a request that names two topics with all topics."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if not isinstance(asked, MetadataRequest) or len(asked.topics or []) != 2:
            return seen.payload
        asked.topics = None if seen.version >= 1 else []
        return _reencoded(seen, asked)


class FlagIsForgottenBesideAKnownTopic(FrameRule):
    """Metadata ignores allow_auto_topic_creation=false in requests that name several topics."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if not isinstance(asked, MetadataRequest) or seen.version < 4:
            return seen.payload
        if len(asked.topics or []) != 2 or asked.allow_auto_topic_creation:
            return seen.payload
        asked.allow_auto_topic_creation = True
        return _reencoded(seen, asked)


class RecreatedTopicKeepsItsId(FrameRule):
    """Metadata returns a deleted topic's id for a recreated one (v10 to v12)."""

    def __init__(self) -> None:
        self.first: dict[str | None, UUID] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, MetadataRequest) or seen.api is None or seen.version < 10:
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        for topic in _answer(message).topics:
            if topic.error_code == ErrorCode.NONE:
                first = self.first.setdefault(topic.name, topic.topic_id)
                topic.topic_id = first if seen.version < 13 else topic.topic_id
        return [encode_response(message, seen.version, correlation_id)]


@answers("META-023", r"error is UNKNOWN_TOPIC_OR_PARTITION", range(12, 99))
def unknown_id_is_called_an_unknown_name(
    request: MetadataRequest, answer: MetadataResponse
) -> None:
    """Metadata answers an unknown topic id with UNKNOWN_TOPIC_OR_PARTITION."""
    for topic in answer.topics:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_ID and len(request.topics or []) == 1:
            topic.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("META-024", r"id alone: error is NONE", range(10, 12))
def ids_can_be_asked_for_too_early(request: MetadataRequest, answer: MetadataResponse) -> None:
    """Metadata v10 and v11 accept a topic id."""
    for asked in request.topics or []:
        if asked.name is None and asked.topic_id != ZERO_UUID:
            for topic in answer.topics:
                topic.error_code = ErrorCode.NONE


@answers("META-019", r"__transaction_state is not internal", range(1, 99))
def only_offsets_are_internal(answer: MetadataResponse) -> None:
    """Metadata does not mark the topic of the transaction coordinator as internal."""
    for topic in answer.topics:
        topic.is_internal = topic.is_internal and topic.name == "__consumer_offsets"


@answers("META-005", r"asked for \[(.+), .+, \1\], got \[\1, \1, ")
def what_is_named_twice_comes_twice(request: MetadataRequest, answer: MetadataResponse) -> None:
    """Metadata returns a topic twice if the request names it twice."""
    names = [topic.name for topic in request.topics or ()]
    answer.topics += [topic for topic in answer.topics if names.count(topic.name) > 1]


@answers("META-042", r"no client reaches it there")
def a_port_is_listed_where_nothing_listens(seen: SeenRequest, answer: MetadataResponse) -> None:
    """Metadata lists a port at which the broker does not listen."""
    for listed in answer.brokers if is_from(seen, "META-042") else ():
        listed.port = CLOSED_PORT


@answers("META-042", r"all addresses of the broker's own machine")
def the_meta_address_is_listed(seen: SeenRequest, answer: MetadataResponse) -> None:
    """Metadata lists the address at which the broker listens, 0.0.0.0, as that for clients."""
    for listed in answer.brokers if is_from(seen, "META-042") else ():
        listed.host = "0.0.0.0"  # listed, not bound


@answers("META-042", r"v0 lists")
def the_first_version_lists_another_host(seen: SeenRequest, answer: MetadataResponse) -> None:
    """Metadata v0 lists another address than later versions."""
    for listed in answer.brokers if is_from(seen, "META-042") and seen.version == 0 else ():
        listed.host = "another.host.invalid"


DEFECTS = [
    a_port_is_listed_where_nothing_listens,
    the_meta_address_is_listed,
    the_first_version_lists_another_host,
    what_is_named_twice_comes_twice,
    changed_field("META-009", "topic_in_creation_has_no_partitions",
        r"the first answer is NONE \(0\) with 0 partitions",
        "Metadata returns a topic in creation without an error and without partitions.",
        MetadataResponse, "topics.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE, range(4, 99),
        requested={"allow_auto_topic_creation": True}),
    only_offsets_are_internal,
    changed_field("META-003", "empty_list_gets_nothing_at_v0",
        r"is 0 times in the list of all topics",
        "Metadata v0 answers an empty list of topics with no topic.",
        MetadataResponse, "topics", ANY, [], range(1), requested={"topics": []}),
    rule("META-004", r"no topic was asked for, \d+ came", EmptyListGetsAll),
    rule("META-005", r"2 topics: asked for .*, got", TwoNamesGetAll),
    changed_field("META-006", "unknown_topic_seems_to_be_created", r"error is LEADER_NOT_AVAILABLE",
        "Metadata reports an unknown topic that may not be created as one without a leader yet.",
        MetadataResponse, "topics.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE, range(4, 12),
        requested={"allow_auto_topic_creation": False}),
    rule("META-008", r"the unknown topic was created by asking", FlagIsForgottenBesideAKnownTopic),
    changed_field("META-010", "two_dots_are_a_name", r"'\.\.': error is UNKNOWN_TOPIC_OR_PARTITION",
        "Metadata takes the name of two dots for a topic that does not exist.",
        MetadataResponse, "topics.error_code",
        ANY, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, where={"topics.name": ".."}),
    changed_field("META-017", "controller_is_no_broker", rf"controller {NO_BROKER_ID}, not in",
        "Metadata names a controller that is none of the listed brokers.",
        MetadataResponse, "controller_id",
        ANY, NO_BROKER_ID, range(1, 99), requested={"topics": []}),
    changed_field("META-018", "no_cluster_id", r"the cluster id is None",
        "Metadata returns a null cluster id at versions that have one (v2 to v12).",
        MetadataResponse, "cluster_id", ANY, None, range(2, 13), requested={"topics": []}),
    rule("META-022", r"has the id of the deleted one", RecreatedTopicKeepsItsId),
    unknown_id_is_called_an_unknown_name,
    ids_can_be_asked_for_too_early,
]  # fmt: skip
