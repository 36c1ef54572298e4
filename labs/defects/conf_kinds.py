"""Defects of area CONF: configs of groups, and of subscriptions to metrics of clients."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from labs.defects.changed_field import changed_field
from labs.defects.edited_request import takes

TOPIC, CLIENT_METRICS, GROUP = 2, 16, 32


@takes("CONF-033", r"match=client_id=a=b: error is NONE|'interval\.ms': '50000'")
def a_pattern_may_have_two_signs(request: IncrementalAlterConfigsRequest) -> None:
    """The broker accepts a pattern with a second "=", and does not use it."""
    for resource in request.resources:
        if resource.resource_type == CLIENT_METRICS:
            resource.configs = [one for one in resource.configs if not _has_two_signs(one.value)]


def _has_two_signs(patterns: str | None) -> bool:
    return any(pattern.count("=") > 1 for pattern in (patterns or "").split(","))


@takes(
    "CONF-034",
    r"consumer\.session\.timeout\.ms=\d+: error is NONE|'consumer\.session\.timeout\.ms': '60000'",
)
def a_group_has_no_longest_session(request: IncrementalAlterConfigsRequest) -> None:
    """The broker accepts any long session timeout of a group."""
    for resource in request.resources:
        for one in resource.configs:
            if resource.resource_type == GROUP and one.name == "consumer.session.timeout.ms":
                one.value = str(min(int(one.value or 0), 60_000))


@takes("CONF-037", r"AlterConfigs: errors are \{\(4")
def a_name_is_that_of_one_resource(request: AlterConfigsRequest) -> None:
    """AlterConfigs takes resources of one name for the same, whatever their types are."""
    request.resources = list({one.resource_name: one for one in request.resources}.values())


@takes("CONF-038", r"interval\.ms=20000 beside .*: error is NONE")
def an_interval_is_compared_with_the_default_timeout(
    request: IncrementalAlterConfigsRequest,
) -> None:
    """The broker accepts any heartbeat interval below the session timeout of other groups."""
    for resource in request.resources:
        for one in resource.configs:
            is_interval = one.name == "consumer.heartbeat.interval.ms" and one.value == "20000"
            if resource.resource_type == GROUP and is_interval:
                one.value = "15000"


@takes("CONF-039", r"'retention\.\w+': None.*: error is NONE")
def null_is_the_default(request: AlterConfigsRequest) -> None:
    """AlterConfigs takes null for a config that is not named."""
    for resource in request.resources:
        resource.configs = [one for one in resource.configs if one.value is not None]


@takes("CONF-041", r"after AlterConfigs with \{\}: ")
def no_configs_are_no_change(request: AlterConfigsRequest) -> None:
    """AlterConfigs without configs changes nothing of a broker, a group or a subscription."""
    if all(
        resource.resource_type != TOPIC and not resource.configs for resource in request.resources
    ):
        request.validate_only = True


DEFECTS = [
    replace(no_configs_are_no_change, private=True),
    replace(a_name_is_that_of_one_resource, private=True),
    replace(an_interval_is_compared_with_the_default_timeout, private=True),
    null_is_the_default,
    replace(
        changed_field("CONF-040", "any_name_is_a_broker", r"broker one.*: error is NONE",
            "AlterConfigs acknowledges configs of a broker by a name that is no id.",
            AlterConfigsResponse, "responses.error_code",
            ErrorCode.INVALID_REQUEST, ErrorCode.NONE,
            where={"responses.resource_name": "one"}),
        private=True,
    ),
    replace(a_pattern_may_have_two_signs, private=True),
    replace(
        changed_field("CONF-033", "intervals_are_invalid_configs",
            r"(interval(\.ms)?=\S+|without a name): error is INVALID_CONFIG",
            "An interval below the least gives the error of a value that cannot be read.",
            IncrementalAlterConfigsResponse, "responses.error_code",
            ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_CONFIG,
            where={"responses.resource_type": CLIENT_METRICS}),
        private=True,
    ),
    replace(a_group_has_no_longest_session, private=True),
    replace(
        changed_field("CONF-034", "values_at_limits_of_groups_are_refused",
            r"[a-z.]+=\d+: error is INVALID_CONFIG",
            "The broker refuses each change of a group's configs.",
            IncrementalAlterConfigsResponse, "responses.error_code",
            ErrorCode.NONE, ErrorCode.INVALID_CONFIG,
            where={"responses.resource_type": GROUP}),
        private=True,
    ),
]  # fmt: skip
