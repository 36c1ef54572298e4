"""ApiVersions: API key 18, versions 0 to 5.

Behaviour
- Lists what the handler table serves.
- A version that is not served is answered in the layout of version 0 with UNSUPPORTED_VERSION
  and the range of this API alone, so that the client can ask again.

Version notes
- v3   flexible; client software name and version are checked (KIP-511); features (KIP-584)
- v4   features with a minimum of 0 are listed too (KAFKA-17011)
- v5   the client may name the cluster and node that it means to reach (KIP-1242)

Not done
- No throttling.
- The features of consumer, share and streams groups.
"""

import re
from functools import lru_cache

from harness.codec import encode
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest, ApiVersionsResponse
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.outcome import Advertised, Answer, RequestContext

API_KEY = 18
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FIRST_VERSION_WITH_NAMES = 3
_FIRST_VERSION_WITH_ZERO_MINIMUM = 4
_FIRST_VERSION_WITH_NODE = 5
_FINALIZED_EPOCH = 1
_METADATA = "metadata.version"

_Feature = tuple[str, int, int, int]

# What a broker of 4.4.0 shows after an ordinary format: name, lowest, highest, finalized level.
# The lowest metadata.version is that of 3.9, as versions are served that 4.0 dropped (KIP-896).
_FEATURES = (
    ("eligible.leader.replicas.version", 0, 1, 1),
    ("group.version", 0, 1, 1),
    ("kraft.version", 0, 1, 0),
    (_METADATA, 1, 33, 33),
    ("share.version", 0, 2, 2),
    ("streams.version", 0, 1, 1),
    ("transaction.version", 0, 2, 2),
)
# A client that sees one of these finalized sends requests that this broker does not serve. Folders
# of a Kafka have them finalized: a broker registers there only as one that supports them.
_NOT_FOR_CLIENTS = {"group.version", "share.version", "streams.version"}
_NO_FEATURES: tuple[_Feature, ...] = ()
_FEATURES_LIKE = {
    "4.4.0": tuple((n, 7 if n == _METADATA else a, b, c) for n, a, b, c in _FEATURES),
    "3.9.2": (("kraft.version", 0, 1, 0), (_METADATA, 1, 21, 21)),
}
_RANGE_IN_REFUSAL = (2, 4)  # KIP-511


def handle(request: ApiVersionsRequest, context: RequestContext) -> Answer:
    """Answer one request of a served version."""
    error = _problem_with(request, context)
    if error is not ErrorCode.NONE:
        return Answer(ApiVersionsResponse(error_code=error))
    return answer_for(context.advertised, context.api_version)


@lru_cache(maxsize=64)
def answer_for(advertised: Advertised, version: int) -> Answer:
    """Return the answer, encoded once: every client requests it first, and it never changes."""
    lists_all = version >= _FIRST_VERSION_WITH_ZERO_MINIMUM
    features = _for_clients(advertised.like_release)
    message = ApiVersionsResponse(
        api_keys=[
            ApiVersionsResponse.ApiVersion(
                api_key=api.api_key, min_version=api.lowest, max_version=api.highest
            )
            for api in advertised.apis
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeatureKey(
                name=name, min_version=lowest, max_version=highest
            )
            for name, lowest, highest, _ in features
            if lists_all or lowest > 0
        ],
        finalized_features_epoch=_FINALIZED_EPOCH if features else 0,
        finalized_features=[
            ApiVersionsResponse.FinalizedFeatureKey(
                name=name, min_version_level=level, max_version_level=level
            )
            for name, _, _, level in features
            if level > 0
        ],
    )
    return Answer(message, encode(message, version))


def _features(like_release: str) -> tuple[_Feature, ...]:
    return _FEATURES_LIKE.get(like_release, _NO_FEATURES) if like_release else _FEATURES


def _for_clients(like_release: str) -> list[_Feature]:
    return [one for one in _features(like_release) if one[0] not in _NOT_FOR_CLIENTS]


def finalized_levels(like: EmulatedRelease) -> dict[str, int]:
    """Return the features that an ordinary format switches on, with their levels.

    A release with a ZooKeeper has no features, but its nodes need one to understand each other.
    """
    levels = {n: level for n, _, _, level in _for_clients(like.between_nodes.release) if level > 0}
    return levels if like == like.between_nodes else {_METADATA: levels[_METADATA]}


def supported_ranges(like_release: str) -> dict[str, tuple[int, int]]:
    """Return the supported features, with their lowest and highest level."""
    return {name: (lowest, highest) for name, lowest, highest, _ in _features(like_release)}


def fallback_answer(context: RequestContext) -> ApiVersionsResponse:
    """Return the answer, in the layout of version 0, to a version that is not served."""
    if not context.state.like.since(*_RANGE_IN_REFUSAL):
        return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    (own,) = (api for api in context.advertised.apis if api.api_key == API_KEY)
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[
            ApiVersionsResponse.ApiVersion(
                api_key=API_KEY, min_version=own.lowest, max_version=own.highest
            )
        ],
    )


def _problem_with(request: ApiVersionsRequest, context: RequestContext) -> ErrorCode:
    if context.api_version >= _FIRST_VERSION_WITH_NAMES and not (
        _SOFTWARE.fullmatch(request.client_software_name)
        and _SOFTWARE.fullmatch(request.client_software_version)
    ):
        return ErrorCode.INVALID_REQUEST
    if context.api_version < _FIRST_VERSION_WITH_NODE:
        return ErrorCode.NONE
    if (request.cluster_id is None) != (request.node_id == -1):
        return ErrorCode.INVALID_REQUEST
    identity = context.state.identity
    if request.cluster_id not in (None, identity.cluster_id) or request.node_id not in (
        -1,
        identity.broker_id,
    ):
        return ErrorCode.REBOOTSTRAP_REQUIRED
    return ErrorCode.NONE
