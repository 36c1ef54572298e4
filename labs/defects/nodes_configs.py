"""Defects of a cluster, area CONF: configs that have effect at too many or too few brokers."""

from __future__ import annotations

from harness.codec.messages import IncrementalAlterConfigsRequest
from labs.defects.edited_request import takes
from labs.defects.one_node import of_cluster

BROKER, LIMIT = 4, "message.max.bytes"
OF_ALL = ""


def _named(request: IncrementalAlterConfigsRequest, before: str, after: str) -> None:
    for resource in request.resources:
        if resource.resource_type == BROKER and resource.resource_name == before:
            is_of_test = [one.name for one in resource.configs] == [LIMIT]
            resource.resource_name = after if is_of_test else before


@takes("CONF-044", r"message\.max\.bytes of 2: .* at broker \d.*: error is MESSAGE_TOO_LARGE")
def a_config_of_one_broker_is_that_of_all(request: IncrementalAlterConfigsRequest) -> None:
    """A config of one broker has effect at all brokers."""
    _named(request, "2", OF_ALL)


@takes("CONF-044", r"of all brokers: a large batch at broker 1: error is NONE")
def a_config_of_all_brokers_is_that_of_one(request: IncrementalAlterConfigsRequest) -> None:
    """A config of all brokers has effect at the broker alone that gets the request."""
    _named(request, OF_ALL, "3")


DEFECTS = of_cluster(
    [a_config_of_one_broker_is_that_of_all, a_config_of_all_brokers_is_that_of_one], private=True
)
