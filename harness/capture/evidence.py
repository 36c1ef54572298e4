"""Evidence that bytes are a message of Kafka: other protocols have lengths and small numbers, too.

The bytes of a response begin with a small correlation id, which looks like API key 0 and a version.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.capture.mentions import TopicNames, mentions
from harness.capture.reading import client_id_of_refused, read_body, read_header
from harness.codec import CodecError, decode
from harness.codec.apis import API_VERSIONS_KEY, APIS, Api
from harness.codec.error_code import ErrorCode
from harness.codec.header import RefusedVersion
from harness.codec.messages import ApiVersionsResponse, ProduceRequest
from harness.codec.structs import Message

_CORRELATION_ID_BYTES = 4
_HIGHEST_PLAUSIBLE_VERSION = 99
_FEWEST_APIS = 4  # a broker advertises many more


class RequestEvidence(NamedTuple):
    """A payload that can be read as a request.

    ``exact``: the body ends with the payload. ``named``: its client id is readable, or it names a
    topic.
    """

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    exact: bool
    named: bool


def request_evidence(payload: bytes) -> RequestEvidence | None:
    """Return the payload as a request; None if it is none, or one that no client sends."""
    try:
        header, at, header_note = read_header(payload)
        api = APIS[header.request_api_key]
        body = read_body(api.request, header.request_api_version, payload, at)
    except CodecError:
        return None
    named = is_readable(header.client_id) or _names_topic(body.message)
    if not named and _produces_nothing(body.message):
        return None
    exact = not (body.left_over or body.note or header_note)
    return RequestEvidence(
        api,
        header.request_api_version,
        header.correlation_id,
        header.client_id,
        exact,
        named,
    )


def is_readable(text: str | None) -> bool:
    """True for a text of printable characters, at least one."""
    return bool(text and text.isprintable())


def refused_is_sure(payload: bytes, refused: RefusedVersion) -> bool:
    """True if a header with a version that is not known is one of Kafka all the same."""
    if refused.header.request_api_version > _HIGHEST_PLAUSIBLE_VERSION:
        return False
    try:
        return is_readable(client_id_of_refused(payload))
    except CodecError:
        return False


def is_api_versions_response(payload: bytes) -> bool:
    """True if the payload is a response to ApiVersions, of any version: its content shows that."""
    return any(_advertises(payload, version) for version in APIS[API_VERSIONS_KEY].valid_versions)


def _advertises(payload: bytes, version: int) -> bool:
    try:
        found = decode(ApiVersionsResponse, version, payload, _CORRELATION_ID_BYTES)
    except CodecError:
        return False
    known = [one for one in found.api_keys if one.api_key in APIS]
    return (
        found.error_code == ErrorCode.NONE
        and len(known) >= _FEWEST_APIS
        and all(0 <= one.min_version <= one.max_version for one in known)
    )


def _produces_nothing(message: Message) -> bool:
    """True for a Produce without topics: zeros and small numbers make one."""
    return isinstance(message, ProduceRequest) and not message.topic_data


def _names_topic(message: Message) -> bool:
    topics = mentions(message, TopicNames()).topics
    return any(is_readable(topic) for topic in topics)
