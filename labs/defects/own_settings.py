"""Defects of areas META and TOPIC that strike brokers with special settings."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes


@answers(
    "META-007",
    r"1 partitions, num\.partitions is 3|replicas are \[\[\d+, \d+\]\], by default",
)
def a_topic_begins_with_one_partition(answer: MetadataResponse) -> None:
    """A topic of auto-creation has one partition, whatever num.partitions is."""
    for topic in answer.topics:
        del topic.partitions[1:]


@answers("META-035", r"v\d+: .*-a_b was created beside")
def colliding_names_are_created(request: MetadataRequest, answer: MetadataResponse) -> None:
    """Auto creation compares new names with existing ones byte by byte."""
    for name in [topic.name for topic in answer.topics] if request.topics is None else []:
        if name is not None and name.endswith("-a.b"):
            made = MetadataResponse.MetadataResponseTopic(name=f"{name[:-3]}a_b")
            answer.topics.append(made)


@takes("META-036", r"no topic is created for \['", range(4, 99))
def an_illegal_name_keeps_others_from_creation(request: MetadataRequest) -> None:
    """Metadata creates no topic for a request that has an illegal name too."""
    if any("/" in (topic.name or "") for topic in request.topics or ()):
        request.allow_auto_topic_creation = False


@answers("META-037", r"__\w+ has 1 partitions, its setting is")
def internal_topics_are_created_like_others(answer: MetadataResponse) -> None:
    """Auto creation gives an internal topic the number of partitions of any other topic."""
    for topic in answer.topics:
        if topic.is_internal:
            del topic.partitions[1:]


@answers("TOPIC-032", r"v\d+ by its id: error is NONE", range(6, 99))
def an_id_is_deleted_though_names_are_not(
    request: DeleteTopicsRequest, answer: DeleteTopicsResponse
) -> None:
    """DeleteTopics deletes a topic by its id when deletion is disabled."""
    for topic, result in zip(request.topics, answer.responses, strict=True):
        if topic.name is None and result.error_code == ErrorCode.TOPIC_DELETION_DISABLED:
            result.error_code = ErrorCode.NONE


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        a_topic_begins_with_one_partition,
        colliding_names_are_created,
        an_id_is_deleted_though_names_are_not,
        an_illegal_name_keeps_others_from_creation,
        internal_topics_are_created_like_others,
        changed_field("META-020", "racks_are_not_told",
            r"the rack is \{None\}, broker\.rack is 'row 7'",
            "Metadata returns a null rack for a broker with one.",
            MetadataResponse, "brokers.rack", ANY, None),
        changed_field("TOPIC-021", "what_all_brokers_have_is_a_default",
            r"returned are .*'retention\.bytes': \('3500000000', 5\)",
            "CreateTopics returns a config of all brokers with the source of a default.",
            CreateTopicsResponse, "topics.configs.config_source", 3, 5,
            where={"topics.configs.name": "retention.bytes"}),
        changed_field("TOPIC-032", "deletion_is_never_called_disabled",
            r"v\d: error is INVALID_REQUEST \(42\), expected TOPIC_DEL",
            "DeleteTopics from v3 on has the error of older versions when deletion is disabled.",
            DeleteTopicsResponse, "responses.error_code",
            ErrorCode.TOPIC_DELETION_DISABLED, ErrorCode.INVALID_REQUEST),
    )
]  # fmt: skip
