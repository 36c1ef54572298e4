"""DescribeConfigs: API key 32, versions 1 to 4.

Behaviour
- Errors are per resource; an unknown resource type fails the whole request.
- Named keys restrict the answer, unknown ones are left out; null and none at all mean every key.
- Secrets have no value.
- A resource that is named twice is answered twice.

Version notes
- v0   a flag for default values, which 2.7 to 3.9 never set; served only if the release had v0
- v1   synonyms, and the source of each value (KIP-226)
- v3   types, and documentation on demand (KIP-569)

Not done
- There are no loggers to show.
"""

from collections.abc import Mapping, Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest, DescribeConfigsResponse
from harness.reference_broker.handlers.config_requests import known_type, unreadable
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.state.config_definitions.config_values import ConfigType
from harness.reference_broker.state.config_definitions.entry import ConfigEntry, ConfigSource
from harness.reference_broker.state.configs.documentation import documentation_of
from harness.reference_broker.state.configs.kinds import KINDS, ResourceType
from harness.reference_broker.state.configs.refused import ConfigsRefused

API_KEY = 32
_DEFAULT_IS_NEVER_SET = (2, 7)  # KAFKA-9432: the generated response has no value for the flag
_GENERATED = (2, 7)  # KAFKA-9432; before, a map (class DescribeConfigsRequest); no keys are none
_KINDS_BEFORE = frozenset({ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER})
_Resource = DescribeConfigsRequest.DescribeConfigsResource
_Result = DescribeConfigsResponse.DescribeConfigsResult
_Config = DescribeConfigsResponse.DescribeConfigsResourceResult
_Synonym = DescribeConfigsResponse.DescribeConfigsSynonym

# Class DescribeConfigsResponse.ConfigType.
_UNKNOWN_TYPE = 0
_TYPES: Mapping[ConfigType, int] = {
    "boolean": 1,
    "string": 2,
    "int": 3,
    "short": 4,
    "long": 5,
    "double": 6,
    "list": 7,
    "class": 8,
    "password": 9,
}


def handle(request: DescribeConfigsRequest, context: RequestContext) -> Outcome:
    """Return the requested configs of each resource."""
    types = [resource.resource_type for resource in request.resources]
    closed = unreadable(types, context.state.like)
    if closed is not None:
        return closed
    resources, kinds = request.resources, frozenset(KINDS)
    if not context.state.like.since(*_GENERATED):
        resources, kinds = _each_once(resources), _KINDS_BEFORE
    if any(resource.resource_type not in kinds for resource in resources):
        refusal = ConfigsRefused(ErrorCode.INVALID_REQUEST, "A resource is of an unknown type.")
        results = [_refused(resource, refusal) for resource in resources]
    else:
        results = [_described(resource, request, context) for resource in resources]
    return Answer(DescribeConfigsResponse(results=results))


def _each_once(resources: Sequence[_Resource]) -> list[_Resource]:
    """Return the last request for each resource, with a type that the release knows."""
    asked: dict[tuple[int, str], _Resource] = {}
    for one in resources:
        told = known_type(one.resource_type)
        asked[told, one.resource_name] = _Resource(
            resource_type=told,
            resource_name=one.resource_name,
            configuration_keys=one.configuration_keys,
        )
    return list(asked.values())


def _described(
    resource: _Resource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> _Result:
    kind, name = KINDS[resource.resource_type], resource.resource_name
    try:
        entries = kind.entries(context.state, name)
    except ConfigsRefused as refusal:
        return _refused(resource, refusal)
    keys = resource.configuration_keys
    none_is_all = context.state.like.since(*_GENERATED)

    def is_wanted(key: str) -> bool:
        return keys is None or key in keys or (none_is_all and not keys)

    return _Result(
        resource_type=resource.resource_type,
        resource_name=name,
        configs=[_config(entry, request, context) for entry in entries if is_wanted(entry.name)],
    )


def _config(
    entry: ConfigEntry, request: DescribeConfigsRequest, context: RequestContext
) -> _Config:
    is_documented = request.include_documentation and entry.type is not None
    sets_default = context.api_version == 0 and not context.state.like.since(*_DEFAULT_IS_NEVER_SET)
    return _Config(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=sets_default and entry.source is ConfigSource.DEFAULT,
        config_source=entry.source,
        is_sensitive=entry.sensitive,
        synonyms=[
            _Synonym(name=synonym.name, value=synonym.value, source=synonym.source)
            for synonym in (entry.synonyms if request.include_synonyms else ())
        ],
        config_type=_UNKNOWN_TYPE if entry.type is None else _TYPES[entry.type],
        documentation=documentation_of(entry.name) if is_documented else None,
    )


def _refused(resource: _Resource, refusal: ConfigsRefused) -> _Result:
    return _Result(
        error_code=refusal.error,
        error_message=refusal.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
