"""Defects of area CONF: changes of configs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ProduceResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body
from labs.defects.nested_structs import structs_at

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
LISTS = frozenset({"cleanup.policy", "follower.replication.throttled.replicas"})
Key = AlterConfigsRequest.AlterableConfig


class UnnamedConfigsStay(FrameRule):
    """AlterConfigs keeps configs of the topic's creation that the request does not name."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, str | None]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, CreateTopicsRequest):
            for topic in seen.message.topics:
                self._given[topic.name] = {c.name: c.value for c in topic.configs}
        if not isinstance(seen.message, AlterConfigsRequest):
            return seen.payload
        for resource in seen.message.resources:
            named = {config.name for config in resource.configs}
            resource.configs += [
                Key(name=name, value=value)
                for name, value in self._given.get(resource.resource_name, {}).items()
                if name not in named
            ]
        return with_body(seen, seen.message)


class NothingToSetIsNothingToDo(FrameRule):
    """AlterConfigs without configs leaves the configs of the last AlterConfigs."""

    def __init__(self) -> None:
        self._given: dict[str, list[Key]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if not isinstance(seen.message, AlterConfigsRequest):
            return seen.payload
        for resource in seen.message.resources:
            name = resource.resource_name
            resource.configs = resource.configs or self._given.get(name, [])
            self._given[name] = resource.configs
        return with_body(seen, seen.message)


@answers("CONF-014", r"in partition 1 of 3: error is NONE")
def only_the_first_partition_is_limited(answer: ProduceResponse) -> None:
    """A new max.message.bytes is in effect in partition 0 alone."""
    for partition in structs_at(answer, "responses", "partition_responses"):
        if partition.index and partition.error_code == ErrorCode.MESSAGE_TOO_LARGE:
            partition.error_code = ErrorCode.NONE


@takes("CONF-026", r"the results are for")
def all_that_follows_is_dropped(request: AlterConfigsRequest) -> None:
    """AlterConfigs returns no results for the resources after one with a bad value."""
    values = [config.value for each in request.resources for config in each.configs]
    if "never" in values:
        del request.resources[values.index("never") + 1 :]


@takes("CONF-027", r"(TRUE|False) ?': error is")
def booleans_are_lower_case(request: AlterConfigsRequest) -> None:
    """The broker reads no boolean that has a capital letter."""
    for config in structs_at(request, "resources", "configs"):
        if config.value in ("TRUE", " False "):
            config.value = "neither"


@takes("CONF-009", r"after SET of retention\.ms and DELETE")
def nothing_is_deleted(request: IncrementalAlterConfigsRequest) -> None:
    """DELETE leaves the config unchanged."""
    for resource in request.resources:
        resource.configs = [c for c in resource.configs if c.config_operation != DELETE]


@takes("CONF-010", r"(APPEND|SUBTRACT) on retention\.ms: error is NONE")
def adding_to_a_number_sets_it(request: IncrementalAlterConfigsRequest) -> None:
    """APPEND and SUBTRACT set the value of a config that is not a list."""
    for resource in request.resources:
        for config in resource.configs:
            if config.config_operation in (APPEND, SUBTRACT) and config.name not in LISTS:
                config.config_operation = SET


@takes("CONF-010", r"after SUBTRACT compact of the default: ")
def the_default_of_a_list_is_empty(request: IncrementalAlterConfigsRequest) -> None:
    """SUBTRACT on a list without a value of its own leaves an empty list."""
    for resource in request.resources:
        for config in resource.configs:
            if config.config_operation == SUBTRACT and config.value == "compact":
                config.config_operation, config.value = SET, ""


@takes("CONF-010", r"after SUBTRACT of the last item: ")
def a_list_without_items_is_not_set(request: IncrementalAlterConfigsRequest) -> None:
    """SUBTRACT of a list's last item deletes the value, so that the list is the default again."""
    for resource in request.resources:
        for config in resource.configs:
            if config.config_operation == SUBTRACT and config.value == "compact,delete":
                config.config_operation = DELETE


@takes("CONF-011", r"a (topic|broker) twice.*: error is NONE|, refused: ")
def the_last_of_a_name_counts(request: IncrementalAlterConfigsRequest) -> None:
    """The broker ignores the first entry of a resource that is named twice."""
    last = {(each.resource_type, each.resource_name): each for each in request.resources}
    request.resources = list(last.values())


def _without(request: AlterConfigsRequest, is_dropped: Callable[[str], bool]) -> None:
    for resource in request.resources:
        if resource.resource_type == TOPIC:
            resource.configs = [c for c in resource.configs if not is_dropped(c.name)]


@takes("CONF-013", r"no\.such\.config=1: error is NONE")
def unknown_configs_are_left_out(request: AlterConfigsRequest) -> None:
    """The broker accepts an unknown key and ignores it."""
    _without(request, lambda name: name.startswith("no."))


@takes(
    "CONF-014", r"a batch of .* (with max\.message\.bytes 2000|in partition 0 of 3): error is NONE"
)
def a_limit_is_that_of_the_creation(request: AlterConfigsRequest) -> None:
    """The broker accepts a change of max.message.bytes and never applies it."""
    _without(request, lambda name: name == "max.message.bytes")


@takes("CONF-022", r"no message\.max\.bytes for .* any more: .*MESSAGE_TOO_LARGE")
def a_deleted_config_stays_in_effect(request: IncrementalAlterConfigsRequest) -> None:
    """A broker's message.max.bytes that is deleted stays in effect until the restart."""
    for resource in request.resources:
        if resource.resource_type == BROKER:
            resource.configs = [
                config
                for config in resource.configs
                if (config.name, config.config_operation) != ("message.max.bytes", DELETE)
            ]


def _without_of_brokers(
    request: AlterConfigsRequest | IncrementalAlterConfigsRequest, name: str, values: Sequence[str]
) -> None:
    for resource in request.resources:
        if resource.resource_type == BROKER:
            kept = [c for c in resource.configs if c.name != name or c.value not in values]
            resource.configs = kept  # type: ignore[assignment]


@takes("CONF-028", r"num\.partitions=7 of .*: error is NONE|refused changes")
def fixed_configs_are_left_out(request: IncrementalAlterConfigsRequest) -> None:
    """The broker accepts a config that only a restart changes, and ignores it."""
    _without_of_brokers(request, "num.partitions", ["7"])


@takes("CONF-028", r"log\.index\.size\.max\.bytes=3 of .*: error is NONE")
def a_limit_of_brokers_is_not_checked(request: AlterConfigsRequest) -> None:
    """The broker accepts a value of its config that is below the least."""
    _without_of_brokers(request, "log.index.size.max.bytes", ["3"])


@takes("CONF-029", r"num\.io\.threads from \d+ to \d+: error is NONE")
def pools_grow_at_will(request: IncrementalAlterConfigsRequest) -> None:
    """The broker accepts any number of threads for requests."""
    _without_of_brokers(request, "num.io.threads", [str(odd) for odd in range(1, 99, 2)])


@takes(
    "CONF-030", r"log\.cleaner\.min\.cleanable\.ratio=1\.5 of .*: error is NONE|refused changes of"
)
def a_ratio_may_exceed_one(request: IncrementalAlterConfigsRequest) -> None:
    """The broker accepts a ratio of the log cleaner above 1."""
    _without_of_brokers(request, "log.cleaner.min.cleanable.ratio", ["1.5"])


@takes("CONF-017", r"a topic with replica\.[a-z.]+=.*: error is NONE")
def topics_take_configs_of_brokers(request: AlterConfigsRequest) -> None:
    """The broker accepts configs of replica fetches for a topic, which has no use for them."""
    _without(request, lambda name: name.startswith("replica."))


DEFECTS = [
    changed_field("CONF-047", "changes_of_nothing_succeed",
        r"error is NONE \(0\), expected UNKNOWN_TOPIC",
        "IncrementalAlterConfigs of a topic that does not exist succeeds.",
        IncrementalAlterConfigsResponse, "responses.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE),
    rule("CONF-008", r"after AlterConfigs with retention\.ms only", UnnamedConfigsStay),
    rule("CONF-008", r"after AlterConfigs without configs", NothingToSetIsNothingToDo),
    only_the_first_partition_is_limited,
    all_that_follows_is_dropped,
    booleans_are_lower_case,
    nothing_is_deleted,
    adding_to_a_number_sets_it,
    the_default_of_a_list_is_empty,
    a_list_without_items_is_not_set,
    the_last_of_a_name_counts,
    changed_field("CONF-012", "configs_are_never_only_validated",
        r"after a validation retention\.ms is 2000000",
        "The broker ignores validate_only.",
        AlterConfigsRequest, "validate_only", ANY, False),
    unknown_configs_are_left_out,
    a_limit_is_that_of_the_creation,
    replace(
        changed_field("CONF-016", "one_broker_is_all_brokers", r"'retention\.ms': '1500000'\}",
            "The broker applies the configs of one broker to all of them; the last change counts.",
            IncrementalAlterConfigsRequest, "resources.resource_name",
            ANY, "", where={"resources.resource_type": BROKER}),
        private=True,
    ),
    replace(a_deleted_config_stays_in_effect, private=True),
    replace(fixed_configs_are_left_out, private=True),
    replace(a_limit_of_brokers_is_not_checked, private=True),
    replace(pools_grow_at_will, private=True),
    replace(a_ratio_may_exceed_one, private=True),
    topics_take_configs_of_brokers,
    changed_field("CONF-031", "levels_are_lists", r" of .*: error is NONE",
        "IncrementalAlterConfigs accepts APPEND and SUBTRACT on the level of a logger.",
        IncrementalAlterConfigsResponse, "responses.error_code",
        ErrorCode.INVALID_REQUEST, ErrorCode.NONE,
        where={"responses.resource_type": BROKER_LOGGER}),
    changed_field("CONF-032", "unknown_loggers_have_levels", r"(SET|DELETE) of .*: error is NONE",
        "IncrementalAlterConfigs accepts a level of a logger that does not exist.",
        IncrementalAlterConfigsResponse, "responses.error_code",
        ErrorCode.INVALID_CONFIG, ErrorCode.NONE,
        where={"responses.resource_type": BROKER_LOGGER}),
]  # fmt: skip
