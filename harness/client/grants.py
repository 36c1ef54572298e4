"""The requests that a cluster lets us send; every request is checked, also one of raw bytes.

A foreign cluster is protected here, at the last place before the socket, so that no test has to do
it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.codec import CodecError, decode_prefix
from harness.codec.apis import APIS, api_named
from harness.codec.frame import LENGTH_BYTES
from harness.codec.header import decode_request_header
from harness.codec.messages import CreateTopicsRequest, MetadataRequest
from harness.codec.structs import Message

CREATE_TOPICS = "create_topics"
_MAY_CREATE = (api_named("CreateTopics").key, api_named("Metadata").key)
_AUTO_CREATION_IS_ASKED_FOR = 4
_KEY = struct.Struct(">h")


class NotGranted(Exception):
    """We may not send this; ``capability`` is the name of what the target would have to grant."""

    def __init__(self, capability: str, reason: str) -> None:
        super().__init__(reason)
        self.capability = capability


@dataclass(frozen=True, slots=True)
class Grants:
    """``refused``: keys of APIs that are never sent, with the name of what they need.

    Without ``create_topics`` no request goes out that could bring a topic into being: CreateTopics
    unless it only validates, Metadata that lets the broker create what it names.
    """

    refused: Mapping[int, str] = field(default_factory=dict)
    create_topics: bool = True

    @property
    def everything(self) -> bool:
        """True if nothing has to be checked."""
        return self.create_topics and not self.refused

    def check(self, payload: bytes) -> None:
        """Raise NotGranted for a request, without its length, that must not go out."""
        if len(payload) < _KEY.size:
            return
        (key,) = _KEY.unpack_from(payload)
        name = APIS[key].name if key in APIS else f"API key {key}"
        if key in self.refused:
            needed = self.refused[key]
            raise NotGranted(needed, f"{name} is not sent to this target, which lacks {needed}")
        if not self.create_topics and key in _MAY_CREATE and _may_create(payload):
            raise NotGranted(CREATE_TOPICS, f"this {name} could create topics on the target")


def _may_create(payload: bytes) -> bool:
    """True if a CreateTopics or Metadata request may create a topic, or cannot be read."""
    try:
        header, start = decode_request_header(payload)
        api, version = APIS[header.request_api_key], header.request_api_version
        message, _ = decode_prefix(api.request, version, payload, start)
    except CodecError:
        return True
    return _creates(message, version)


def _creates(message: Message, version: int) -> bool:
    if isinstance(message, CreateTopicsRequest):
        return bool(message.topics) and not message.validate_only
    assert isinstance(message, MetadataRequest)
    asked_for = version < _AUTO_CREATION_IS_ASKED_FOR or message.allow_auto_topic_creation
    return bool(message.topics) and asked_for


class FrameGate:
    """The check of the bytes of one connection; a request's last byte passes when it may go out."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._pending = bytearray()

    def check(self, data: bytes) -> None:
        """Raise NotGranted when ``data`` completes a request that must not go out.

        Nothing of ``data`` may then be sent, and the connection is of no more use.
        """
        self._pending += data
        while len(self._pending) >= LENGTH_BYTES:
            (length,) = struct.unpack_from(">i", self._pending)
            stop = LENGTH_BYTES + max(length, 0)
            if len(self._pending) < stop:
                return
            payload = bytes(self._pending[LENGTH_BYTES:stop])
            del self._pending[:stop]
            self._grants.check(payload)
