"""Kafka's frames as scapy layers: ``KafkaFrame / KafkaRequest(...)``, ``KafkaFrame(data)``.

The body is a ``Message`` of the codec, the header's form follows from API and version. A response
does not contain them: give ``api_key`` and ``api_version`` (``dissect_response``), or read a
capture with ``TCPSession`` after ``bind_ports``, which pairs by correlation id. Importing this
module binds nothing.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import Any

from scapy.fields import ConditionalField, SignedIntField
from scapy.packet import Packet, Raw, bind_bottom_up, split_bottom_up

from harness.capture.frame_search import SHORTEST_REQUEST, SHORTEST_RESPONSE
from harness.capture.layer_fields import (
    BodyField,
    ClientIdField,
    DerivedField,
    OffWireField,
    TagsField,
)
from harness.codec import CodecError
from harness.codec.apis import API_VERSIONS_KEY, APIS, Api, api_of
from harness.codec.header import RefusedVersion, decode_request_header
from harness.codec.structs import Message

LENGTH_BYTES = 4
REQUEST, RESPONSE = "request", "response"
_INT32 = struct.Struct(">i")
_server_ports: set[int] = set()


class _KafkaMessage(Packet):
    """The common part of requests and responses: API and version decide the form."""

    @property
    def kafka_api(self) -> Api | None:
        """By the key, else by the body."""
        key = self.getfieldval("api_key")
        if key is not None:
            return APIS.get(key)
        body = self.getfieldval("body")
        return api_of(type(body)) if isinstance(body, Message) else None

    @property
    def kafka_key(self) -> int | None:
        """The number of ``kafka_api``."""
        return None if self.kafka_api is None else self.kafka_api.key

    @property
    def kafka_version(self) -> int | None:
        """As given, else the newest that is stable."""
        version: int | None = self.getfieldval("api_version")
        api = self.kafka_api
        if version is None and api is not None:
            stable = [v for v in api.valid_versions if v not in api.unstable_versions]
            return stable[-1]
        return version

    def _known(self) -> tuple[Api, int] | None:
        api, version = self.kafka_api, self.kafka_version
        return None if api is None or version is None else (api, version)

    def _summary(self, kind: str) -> str:
        known = self._known()
        name = f"{known[0].name} v{known[1]}" if known else "?"
        return f"Kafka {name} {kind} {self.getfieldval('correlation_id')}"


class KafkaRequest(_KafkaMessage):
    """Header and body of a request. ``api_key`` follows from the body when it is not given."""

    name = "Kafka request"
    fields_desc = [  # noqa: RUF012
        DerivedField("api_key", "kafka_key", "h"),
        DerivedField("api_version", "kafka_version", "h"),
        SignedIntField("correlation_id", 0),
        ConditionalField(ClientIdField("client_id", None), lambda p: p.header_version >= 1),
        ConditionalField(TagsField("header_tags", {}), lambda p: p.header_version >= 2),
        BodyField("body", None),
    ]

    @property
    def header_version(self) -> int:
        """0 for an unknown API or version: then all that follows is the body."""
        known = self._known()
        if known is None:
            return 0
        api, version = known
        if version not in api.valid_versions and api.key != API_VERSIONS_KEY:
            return 0
        if version > api.valid_versions.highest:
            return 2
        return api.request_header_version(version)

    @property
    def body_class(self) -> type[Message] | None:
        """The class of the body; None for an api that is not known."""
        return None if self.kafka_api is None else self.kafka_api.request

    def mysummary(self) -> str:
        """``Kafka Fetch v12 request 7``."""
        return self._summary(REQUEST)


class KafkaResponse(_KafkaMessage):
    """Header and body of a response; ``api_key`` and ``api_version`` are not on the wire."""

    name = "Kafka response"
    __slots__ = ["asked_key", "asked_version"]
    fields_desc = [  # noqa: RUF012
        OffWireField("api_key", "asked_key"),
        OffWireField("api_version", "asked_version"),
        SignedIntField("correlation_id", 0),
        ConditionalField(TagsField("header_tags", {}), lambda p: p.header_version >= 1),
        BodyField("body", None),
    ]

    def __init__(
        self,
        _pkt: bytes = b"",
        *args: Any,
        api_key: int | None = None,
        api_version: int | None = None,
        **fields: Any,
    ) -> None:
        under = fields.get("_underlayer")
        if isinstance(under, KafkaFrame) and under.asked is not None:
            api_key, api_version = under.asked
        object.__setattr__(self, "asked_key", api_key)
        object.__setattr__(self, "asked_version", api_version)
        if api_key is not None:
            fields["api_key"] = api_key
        if api_version is not None:
            fields["api_version"] = api_version
        super().__init__(_pkt, *args, **fields)

    @property
    def header_version(self) -> int:
        """0 for an unknown API or version: then all that follows is the body."""
        known = self._known()
        if known is None or known[1] not in known[0].valid_versions:
            return 0
        return known[0].response_header_version(known[1])

    @property
    def body_class(self) -> type[Message] | None:
        """The class of the body; None for an api that is not known."""
        return None if self.kafka_api is None else self.kafka_api.response

    def answers(self, other: Packet) -> int:
        """True, as a number, if it is the response to that request."""
        return int(isinstance(other, KafkaRequest) and other.correlation_id == self.correlation_id)

    def mysummary(self) -> str:
        """``Kafka Fetch v12 response 7``."""
        return self._summary(RESPONSE)


class KafkaFrame(Packet):
    """The length and the payload that it counts. Bytes behind the frame are padding.

    ``role`` and ``asked`` name the content: "request", or "response" to (api key, version). Without
    them the TCP ports decide, else a payload that can be read as a request is one.
    """

    name = "Kafka frame"
    __slots__ = ["asked", "role"]
    fields_desc = [SignedIntField("length", None)]  # type: ignore[arg-type]  # noqa: RUF012

    def __init__(
        self,
        _pkt: bytes = b"",
        *args: Any,
        role: str | None = None,
        asked: tuple[int, int] | None = None,
        **fields: Any,
    ) -> None:
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "asked", asked)
        super().__init__(_pkt, *args, **fields)

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Fill in the length."""
        return (_INT32.pack(len(pay)) if self.length is None else pkt) + pay

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """Return the payload, and the bytes behind the frame."""
        end = max(0, self.length)
        return s[:end], s[end:]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """Return the class of the payload: a request, a response, or bytes."""
        role = self.role or _role(self.underlayer)
        if role is None:
            role = REQUEST if _is_request(payload) else None
        if role == REQUEST and len(payload) >= SHORTEST_REQUEST:
            return KafkaRequest
        if role == RESPONSE and len(payload) >= SHORTEST_RESPONSE:
            return KafkaResponse
        return Raw

    @classmethod
    def tcp_reassemble(
        cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]
    ) -> KafkaFrame | None:
        """For scapy's TCPSession: a frame once it is whole, a response with its request's api."""
        if len(data) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + max(0, _INT32.unpack_from(data)[0])
        if len(data) < end:
            metadata["tcp_min_len"] = end
            return None
        original = metadata.get("original")
        role = _role(original["TCP"]) if original is not None else None
        pending: deque[tuple[int, tuple[int, int]]] = session.setdefault("kafka", deque())
        if role != RESPONSE or len(data) < 2 * LENGTH_BYTES:
            frame = cls(data, role=role)
            if KafkaRequest in frame:
                request = frame[KafkaRequest]
                asked = (request.api_key, request.api_version)
                pending.append((request.correlation_id, asked))
            return frame
        (number,) = _INT32.unpack_from(data, LENGTH_BYTES)
        if number not in (waiting for waiting, _ in pending):
            return cls(data, role=RESPONSE)
        while True:
            waiting, asked = pending.popleft()
            if waiting == number:
                return cls(data, role=RESPONSE, asked=asked)


def _role(tcp: Packet | None) -> str | None:
    if tcp is None or tcp.name != "TCP":
        return None
    if tcp.dport in _server_ports:
        return REQUEST
    return RESPONSE if tcp.sport in _server_ports else None


def _is_request(payload: bytes) -> bool:
    try:
        decode_request_header(payload)
    except RefusedVersion:
        return True
    except CodecError:
        return False
    return True


def request_frame(
    message: Message, version: int, correlation_id: int = 0, client_id: str | None = None
) -> KafkaFrame:
    """A request as it goes over the wire."""
    frame: KafkaFrame = KafkaFrame() / KafkaRequest(
        api_version=version, correlation_id=correlation_id, client_id=client_id, body=message
    )
    return frame


def response_frame(message: Message, version: int, correlation_id: int = 0) -> KafkaFrame:
    """A response as it goes over the wire."""
    response = KafkaResponse(
        api_key=api_of(type(message)).key,
        api_version=version,
        correlation_id=correlation_id,
        body=message,
    )
    frame: KafkaFrame = KafkaFrame() / response
    return frame


def dissect_request(data: bytes) -> KafkaFrame:
    """A frame, its length included, that holds a request."""
    return KafkaFrame(data, role=REQUEST)


def dissect_response(data: bytes, api_key: int, api_version: int) -> KafkaFrame:
    """A frame, its length included, that answers a request of this api and version."""
    return KafkaFrame(data, role=RESPONSE, asked=(api_key, api_version))


def bind_ports(*ports: int) -> None:
    """Take TCP to and from these ports of brokers for Kafka, in all of this process."""
    from scapy.layers.inet import TCP

    for port in ports:
        _server_ports.add(port)
        bind_bottom_up(TCP, KafkaFrame, dport=port)
        bind_bottom_up(TCP, KafkaFrame, sport=port)


def unbind_ports(*ports: int) -> None:
    """Undo ``bind_ports``."""
    from scapy.layers.inet import TCP

    for port in ports:
        _server_ports.discard(port)
        split_bottom_up(TCP, KafkaFrame, dport=port)
        split_bottom_up(TCP, KafkaFrame, sport=port)
