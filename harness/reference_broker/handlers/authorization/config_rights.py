"""The rights to configs, by the type of their resource (classes ConfigHelper, ControllerApis)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.authorization.refusals import TEXTS
from harness.reference_broker.handlers.authorization.steps import ERROR_OF, Check
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.acls.acl import CLUSTER_NAME, AclResource
from harness.reference_broker.state.configs.kinds import ResourceType

_CLUSTER_TYPES = (ResourceType.BROKER, ResourceType.BROKER_LOGGER, ResourceType.CLIENT_METRICS)
_RESOURCES: dict[int, AclResource] = {
    ResourceType.TOPIC: rights.TOPIC,
    ResourceType.GROUP: rights.GROUP,
    **dict.fromkeys(_CLUSTER_TYPES, rights.CLUSTER),
}


def config_right(operation: int) -> Check:
    """Return the check of a right to the configs of a resource; other types the handler refuses."""

    def check(asked: Any, context: RequestContext) -> ErrorCode | None:
        resource = _RESOURCES.get(asked.resource_type)
        if resource is None:
            return None
        name = CLUSTER_NAME if resource is rights.CLUSTER else asked.resource_name
        return None if rights.may(context, operation, resource, name) else ERROR_OF[resource]

    return check


def refused(result: type[Any], **beside: Any) -> Callable[[Any, ErrorCode, RequestContext], Any]:
    """Return the maker of the result of a resource."""

    def refuse(asked: Any, error: ErrorCode, _: RequestContext) -> Any:
        return result(
            error_code=error,
            error_message=TEXTS[error],
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
            **beside,
        )

    return refuse


DESCRIBED = refused(messages.DescribeConfigsResponse.DescribeConfigsResult)
ALTERED = refused(messages.AlterConfigsResponse.AlterConfigsResourceResponse)
ALTERED_BY_KEY = refused(messages.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse)
