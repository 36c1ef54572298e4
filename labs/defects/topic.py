"""Defects of area TOPIC: CreateTopics."""

from __future__ import annotations

import re

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.edited_request import takes

DEFAULT = -1
LONGEST_NAME_CHARACTERS = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{3,249}")
Created = CreateTopicsResponse.CreatableTopicResult


def _asked(seen: SeenRequest) -> CreateTopicsRequest:
    assert isinstance(seen.message, CreateTopicsRequest)
    return seen.message


def _results(message: Message) -> list[Created]:
    assert isinstance(message, CreateTopicsResponse)
    return message.topics


def _forgive(result: Created) -> None:
    result.error_code, result.error_message = ErrorCode.NONE, None


@answers("TOPIC-006", r"error is NONE \(0\), expected TOPIC_ALREADY_EXISTS", "CreateTopics")
def creation_is_idempotent(_: SeenRequest, message: Message) -> None:
    """CreateTopics of an existing topic succeeds and changes nothing."""
    for result in _results(message):
        if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
            _forgive(result)


@takes("TOPIC-007", r"-2 partitions: error is NONE \(0\)", CreateTopicsRequest)
def any_negative_count_is_the_default(request: CreateTopicsRequest) -> None:
    """The broker reads every negative number of partitions as its default."""
    for topic in request.topics:
        topic.num_partitions = max(topic.num_partitions, DEFAULT)


@takes("TOPIC-008", r"replication factor 0: error is NONE \(0\)", CreateTopicsRequest)
def replication_factor_0_is_the_default(request: CreateTopicsRequest) -> None:
    """The broker reads a replication factor of 0 as its default."""
    for topic in request.topics:
        if topic.replication_factor == 0:
            topic.replication_factor = DEFAULT


@takes("TOPIC-009", r"error is INVALID_PARTITIONS \(37\), expected NONE", CreateTopicsRequest)
def there_is_no_default(request: CreateTopicsRequest) -> None:
    """The broker requires a number of partitions, as before KIP-464."""
    for topic in request.topics:
        if topic.num_partitions == DEFAULT and not topic.assignments:
            topic.num_partitions = 0


@takes(
    "TOPIC-011", r"with a .+: error is NONE \(0\), expected INVALID_REQUEST", CreateTopicsRequest
)
def an_assignment_outweighs_the_numbers(request: CreateTopicsRequest) -> None:
    """The broker ignores partitions and replication factor beside a manual assignment."""
    for topic in request.topics:
        if topic.assignments:
            topic.num_partitions = topic.replication_factor = DEFAULT


@takes("TOPIC-013", r"not\.a\.property=1: error is NONE \(0\)", CreateTopicsRequest)
def unknown_configs_are_ignored(request: CreateTopicsRequest) -> None:
    """The broker ignores an unknown config name."""
    for topic in request.topics:
        topic.configs = [config for config in topic.configs if config.name != "not.a.property"]


@takes("TOPIC-014", r"error is NONE \(0\), expected INVALID_CONFIG", CreateTopicsRequest)
def null_is_the_default_of_a_config(request: CreateTopicsRequest) -> None:
    """The broker ignores a config with the value null."""
    for topic in request.topics:
        topic.configs = [config for config in topic.configs if config.value is not None]


@answers("TOPIC-015", r"250 characters: error is NONE \(0\)", "CreateTopics")
def names_may_be_longer(_: SeenRequest, message: Message) -> None:
    """The broker accepts names of 250 characters."""
    for result in _results(message):
        if result.name and len(result.name) == LONGEST_NAME_CHARACTERS + 1:
            _forgive(result)


@answers("TOPIC-016", r"beside .+: error is NONE \(0\)", "CreateTopics")
def names_do_not_collide(_: SeenRequest, message: Message) -> None:
    """The broker accepts names that differ only by a dot and an underscore."""
    for result in _results(message):
        legal = LEGAL_NAME.fullmatch(result.name or "")
        if legal and result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
            _forgive(result)


@answers("TOPIC-017", r"the topic before: error is INVALID_PARTITIONS", "CreateTopics")
def one_bad_topic_spoils_all(seen: SeenRequest, message: Message) -> None:
    """The broker refuses all topics of a request with the error of one."""
    codes = {result.error_code for result in _results(message)}
    if codes == {ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS} and not _asked(seen).validate_only:
        for result in _results(message):
            result.error_code = ErrorCode.INVALID_PARTITIONS


@takes("TOPIC-018", r"the topic named twice: error is NONE \(0\)", CreateTopicsRequest)
def a_repeated_topic_is_created_once(request: CreateTopicsRequest) -> None:
    """The broker ignores the second mention of a topic that a request names twice."""
    request.topics = list({topic.name: topic for topic in request.topics}.values())


@takes("TOPIC-019", r"was created: its error is NONE \(0\)", CreateTopicsRequest)
def validation_creates(request: CreateTopicsRequest) -> None:
    """The broker ignores validate_only if a request has several topics."""
    if any(topic.num_partitions == 0 for topic in request.topics):
        request.validate_only = False


@answers("TOPIC-020", r"error is NONE \(0\), expected INVALID_REQUEST", "CreateTopics")
def the_metadata_log_can_be_created(_: SeenRequest, message: Message) -> None:
    """The broker accepts the name __cluster_metadata like any other."""
    for result in _results(message):
        if result.name == "__cluster_metadata":
            _forgive(result)


@answers("TOPIC-021", r"only the configs that were given are returned", "CreateTopics")
def the_answer_repeats_the_configs_given(seen: SeenRequest, message: Message) -> None:
    """CreateTopics leaves out the configs that a topic inherits."""
    given = {config.name for topic in _asked(seen).topics for config in topic.configs}
    for result in _results(message):
        result.configs = [config for config in result.configs or [] if config.name in given]


DEFECTS = [
    creation_is_idempotent,
    any_negative_count_is_the_default,
    replication_factor_0_is_the_default,
    there_is_no_default,
    an_assignment_outweighs_the_numbers,
    unknown_configs_are_ignored,
    null_is_the_default_of_a_config,
    names_may_be_longer,
    names_do_not_collide,
    one_bad_topic_spoils_all,
    a_repeated_topic_is_created_once,
    validation_creates,
    the_metadata_log_can_be_created,
    the_answer_repeats_the_configs_given,
]
