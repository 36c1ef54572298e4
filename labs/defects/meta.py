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
from labs.defects.defect import answers, rule

NO_BROKER_ID = 987_654


def _asked(seen: SeenRequest) -> MetadataRequest:
    assert isinstance(seen.message, MetadataRequest)
    return seen.message


def _answer(message: Message) -> MetadataResponse:
    assert isinstance(message, MetadataResponse)
    return message


def _reencoded(seen: SeenRequest, message: Message) -> bytes:
    """Return the request with another body."""
    header = seen.header
    assert header is not None
    return encode_request(message, seen.version, header.correlation_id, header.client_id)


@answers("META-003", r"2 of 2 topics are missing", "Metadata", range(1))
def empty_list_gets_nothing_at_v0(seen: SeenRequest, message: Message) -> None:
    """Metadata v0 answers an empty list of topics with no topic."""
    if not _asked(seen).topics:
        _answer(message).topics = []


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


@answers("META-006", r"error is LEADER_NOT_AVAILABLE", "Metadata", range(4, 12))
def unknown_topic_seems_to_be_created(seen: SeenRequest, message: Message) -> None:
    """Metadata reports an unknown topic that may not be created as one without a leader yet."""
    if not _asked(seen).allow_auto_topic_creation:
        for topic in _answer(message).topics:
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                topic.error_code = ErrorCode.LEADER_NOT_AVAILABLE


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


@answers("META-010", r"'\.\.': error is UNKNOWN_TOPIC_OR_PARTITION", "Metadata")
def two_dots_are_a_name(seen: SeenRequest, message: Message) -> None:
    """Metadata takes the name of two dots for a topic that does not exist."""
    for topic in _answer(message).topics:
        if topic.name == "..":
            topic.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("META-017", rf"controller {NO_BROKER_ID}, not in", "Metadata", range(1, 99))
def controller_is_no_broker(seen: SeenRequest, message: Message) -> None:
    """Metadata names a controller that is none of the listed brokers."""
    if _asked(seen).topics == []:
        _answer(message).controller_id = NO_BROKER_ID


@answers("META-018", r"the cluster id is None", "Metadata", range(2, 13))
def no_cluster_id(seen: SeenRequest, message: Message) -> None:
    """Metadata returns a null cluster id at versions that have one (v2 to v12)."""
    if _asked(seen).topics == []:
        _answer(message).cluster_id = None


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


@answers("META-023", r"error is UNKNOWN_TOPIC_OR_PARTITION", "Metadata", range(12, 99))
def unknown_id_is_called_an_unknown_name(seen: SeenRequest, message: Message) -> None:
    """Metadata answers an unknown topic id with UNKNOWN_TOPIC_OR_PARTITION."""
    for topic in _answer(message).topics:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_ID and len(_asked(seen).topics or []) == 1:
            topic.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("META-024", r"id alone: error is NONE", "Metadata", range(10, 12))
def ids_can_be_asked_for_too_early(seen: SeenRequest, message: Message) -> None:
    """Metadata v10 and v11 accept a topic id."""
    for asked in _asked(seen).topics or []:
        if asked.name is None and asked.topic_id != ZERO_UUID:
            for topic in _answer(message).topics:
                topic.error_code = ErrorCode.NONE


@answers("META-009", r"the first answer is NONE \(0\) with 0 partitions", "Metadata", range(4, 99))
def topic_in_creation_has_no_partitions(seen: SeenRequest, message: Message) -> None:
    """Metadata returns a topic in creation without an error and without partitions."""
    if _asked(seen).allow_auto_topic_creation:
        for topic in _answer(message).topics:
            if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                topic.error_code = ErrorCode.NONE


@answers("META-019", r"__transaction_state is not internal", "Metadata", range(1, 99))
def only_offsets_are_internal(_seen: SeenRequest, message: Message) -> None:
    """Metadata does not mark the topic of the transaction coordinator as internal."""
    for topic in _answer(message).topics:
        topic.is_internal = topic.is_internal and topic.name == "__consumer_offsets"


DEFECTS = [
    topic_in_creation_has_no_partitions,
    only_offsets_are_internal,
    empty_list_gets_nothing_at_v0,
    rule("META-004", r"no topic was asked for, \d+ came", EmptyListGetsAll),
    rule("META-005", r"asked for 2 of 3 topics, got", TwoNamesGetAll),
    unknown_topic_seems_to_be_created,
    rule("META-008", r"the unknown topic was created by asking", FlagIsForgottenBesideAKnownTopic),
    two_dots_are_a_name,
    controller_is_no_broker,
    no_cluster_id,
    rule("META-022", r"has the id of the deleted one", RecreatedTopicKeepsItsId),
    unknown_id_is_called_an_unknown_name,
    ids_can_be_asked_for_too_early,
]
