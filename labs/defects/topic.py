"""Defects of area TOPIC: CreateTopics."""

from __future__ import annotations

import re

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

DEFAULT = -1
LONGEST_NAME_CHARACTERS = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{3,249}")
Created = CreateTopicsResponse.CreatableTopicResult


def _forgive(result: Created) -> None:
    result.error_code, result.error_message = ErrorCode.NONE, None


@answers("TOPIC-006", r"error is NONE \(0\), expected TOPIC_ALREADY_EXISTS")
def creation_is_idempotent(answer: CreateTopicsResponse) -> None:
    """CreateTopics of an existing topic succeeds and changes nothing."""
    for result in answer.topics:
        if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
            _forgive(result)


@takes("TOPIC-007", r"-2 partitions: error is NONE \(0\)|nothing is created: \S+ was created")
def any_negative_count_is_the_default(request: CreateTopicsRequest) -> None:
    """The broker reads every negative number of partitions as its default."""
    for topic in request.topics:
        topic.num_partitions = max(topic.num_partitions, DEFAULT)


@takes("TOPIC-011", r"with a .+: error is NONE \(0\), expected INVALID_REQUEST")
def an_assignment_outweighs_the_numbers(request: CreateTopicsRequest) -> None:
    """The broker ignores partitions and replication factor beside a manual assignment."""
    for topic in request.topics:
        if topic.assignments:
            topic.num_partitions = topic.replication_factor = DEFAULT


@takes("TOPIC-013", r"not\.a\.property=1: error is NONE \(0\)|nothing is created: \S+ was created")
def unknown_configs_are_ignored(request: CreateTopicsRequest) -> None:
    """The broker ignores an unknown config name."""
    for topic in request.topics:
        topic.configs = [config for config in topic.configs if config.name != "not.a.property"]


@takes(
    "TOPIC-014", r"error is NONE \(0\), expected INVALID_CONFIG|nothing is created: \S+ was created"
)
def null_is_the_default_of_a_config(request: CreateTopicsRequest) -> None:
    """The broker ignores a config with the value null."""
    for topic in request.topics:
        topic.configs = [config for config in topic.configs if config.value is not None]


@answers("TOPIC-015", r"250 characters: error is NONE \(0\)")
def names_may_be_longer(answer: CreateTopicsResponse) -> None:
    """The broker accepts names of 250 characters."""
    for result in answer.topics:
        if result.name and len(result.name) == LONGEST_NAME_CHARACTERS + 1:
            _forgive(result)


@answers("TOPIC-016", r"beside .+: error is NONE \(0\)")
def names_do_not_collide(answer: CreateTopicsResponse) -> None:
    """The broker accepts names that differ only by a dot and an underscore."""
    for result in answer.topics:
        legal = LEGAL_NAME.fullmatch(result.name or "")
        if legal and result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
            _forgive(result)


@answers("TOPIC-017", r"the topic before: error is INVALID_PARTITIONS")
def one_bad_topic_spoils_all(request: CreateTopicsRequest, answer: CreateTopicsResponse) -> None:
    """The broker refuses all topics of a request with the error of one."""
    codes = {result.error_code for result in answer.topics}
    if codes == {ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS} and not request.validate_only:
        for result in answer.topics:
            result.error_code = ErrorCode.INVALID_PARTITIONS


@takes("TOPIC-018", r"the topic named twice: error is NONE \(0\)")
def a_repeated_topic_is_created_once(request: CreateTopicsRequest) -> None:
    """The broker ignores the second mention of a topic that a request names twice."""
    request.topics = list({topic.name: topic for topic in request.topics}.values())


@takes("TOPIC-019", r"was created: its error is NONE \(0\)")
def validation_creates(request: CreateTopicsRequest) -> None:
    """The broker ignores validate_only if a request has several topics."""
    if any(topic.num_partitions == 0 for topic in request.topics):
        request.validate_only = False


@answers("TOPIC-019", r"by default: validate_only answers \(-1, -1, ")
def validation_repeats_the_defaults_asked_for(
    request: CreateTopicsRequest, answer: CreateTopicsResponse
) -> None:
    """With validate_only, a topic by default has -1 partitions in the answer."""
    topics = (topic for topic in request.topics if not topic.assignments)
    asked = {topic.name for topic in topics if topic.num_partitions == DEFAULT}
    for result in answer.topics if request.validate_only else ():
        if result.name in asked:
            result.num_partitions = result.replication_factor = DEFAULT


@answers("TOPIC-021", r"only the configs that were given are returned")
def the_answer_repeats_the_configs_given(
    request: CreateTopicsRequest, answer: CreateTopicsResponse
) -> None:
    """CreateTopics leaves out the configs that a topic inherits."""
    given = {config.name for topic in request.topics for config in topic.configs}
    for result in answer.topics:
        result.configs = [config for config in result.configs or [] if config.name in given]


DEFECTS = [
    creation_is_idempotent,
    any_negative_count_is_the_default,
    changed_field("TOPIC-008", "replication_factor_0_is_the_default",
        r"replication factor 0: error is NONE \(0\)|nothing is created: \S+ was created",
        "The broker reads a replication factor of 0 as its default.",
        CreateTopicsRequest, "topics.replication_factor", 0, DEFAULT),
    changed_field("TOPIC-009", "there_is_no_default",
        r"error is INVALID_PARTITIONS \(37\), expected NONE",
        "The broker requires a number of partitions, as before KIP-464.",
        CreateTopicsRequest, "topics.num_partitions", DEFAULT, 0, where={"topics.assignments": []}),
    an_assignment_outweighs_the_numbers,
    unknown_configs_are_ignored,
    null_is_the_default_of_a_config,
    names_may_be_longer,
    names_do_not_collide,
    one_bad_topic_spoils_all,
    a_repeated_topic_is_created_once,
    validation_creates,
    validation_repeats_the_defaults_asked_for,
    changed_field("TOPIC-020", "the_metadata_log_can_be_created",
        r"error is NONE \(0\), expected INVALID_REQUEST",
        "The broker accepts the name __cluster_metadata like any other.",
        CreateTopicsResponse, "topics.error_code",
        ANY, ErrorCode.NONE, where={"topics.name": "__cluster_metadata"},
        also={"error_message": None}),
    the_answer_repeats_the_configs_given,
]  # fmt: skip
