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
- Configs that only brokers have are shown without documentation.
"""

from collections.abc import Mapping, Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest, DescribeConfigsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.config_definitions.config_values import ConfigType
from harness.reference_broker.state.config_definitions.entry import ConfigEntry, ConfigSource
from harness.reference_broker.state.configs.documentation import documentation_of
from harness.reference_broker.state.configs.kinds import KINDS
from harness.reference_broker.state.configs.refused import ConfigsRefused

API_KEY = 32
_DEFAULT_IS_NEVER_SET = (2, 7)  # KAFKA-9432: the generated response has no value for the flag
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


def handle(request: DescribeConfigsRequest, context: RequestContext) -> Answer:
    """Return the requested configs of each resource."""
    if any(resource.resource_type not in KINDS for resource in request.resources):
        refusal = ConfigsRefused(ErrorCode.INVALID_REQUEST, "A resource is of an unknown type.")
        results = [_refused(resource, refusal) for resource in request.resources]
    else:
        results = [_described(resource, request, context) for resource in request.resources]
    return Answer(DescribeConfigsResponse(results=results))


def _described(
    resource: DescribeConfigsRequest.DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> _Result:
    kind, name = KINDS[resource.resource_type], resource.resource_name
    try:
        entries = kind.entries(context.state, name)
    except ConfigsRefused as refusal:
        return _refused(resource, refusal)
    keys = resource.configuration_keys
    return _Result(
        resource_type=resource.resource_type,
        resource_name=name,
        configs=[_config(entry, request, context) for entry in _wanted(entries, keys)],
    )


def _wanted(entries: Sequence[ConfigEntry], keys: Sequence[str] | None) -> Sequence[ConfigEntry]:
    return [entry for entry in entries if entry.name in keys] if keys else entries


def _config(
    entry: ConfigEntry, request: DescribeConfigsRequest, context: RequestContext
) -> _Config:
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
        documentation=documentation_of(entry.name) if request.include_documentation else None,
    )


def _refused(
    resource: DescribeConfigsRequest.DescribeConfigsResource, refusal: ConfigsRefused
) -> _Result:
    return _Result(
        error_code=refusal.error,
        error_message=refusal.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
