"""The fields of Kafka's frames, for scapy: client id, tags, and the body as a ``Message``."""

from __future__ import annotations

import copy
import struct
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from scapy.fields import Field
from scapy.packet import Packet

from harness.codec import CodecError, decode, encode
from harness.codec.apis import Api
from harness.codec.structs import Message
from harness.codec.varint import decode_uvarint, encode_uvarint

if TYPE_CHECKING:
    AnyField = Field[Any, Any]
else:
    AnyField = Field

_INT16 = struct.Struct(">h")


class Undecoded(NamedTuple):
    """A body that is not a message that we know; ``problem`` says why."""

    data: bytes
    problem: str


class KafkaLayer(Protocol):
    """The properties that the fields need of the packet that they belong to."""

    @property
    def kafka_api(self) -> Api | None: ...

    @property
    def kafka_version(self) -> int | None: ...

    @property
    def body_class(self) -> type[Message] | None: ...


def layer(packet: Packet | None) -> KafkaLayer:
    """The packet, by the interface that its fields need."""
    return cast("KafkaLayer", packet)


class OffWireField(AnyField):
    """No bytes: what has to be known about a response to read it."""

    __slots__ = ["attribute"]

    def __init__(self, name: str, attribute: str) -> None:
        self.attribute = attribute
        super().__init__(name, None, "B")

    def addfield(self, pkt: Packet, s: bytes, val: object) -> bytes:  # noqa: ARG002
        """Add nothing."""
        return s

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Any]:
        """Take nothing: the value was given when the packet was made."""
        return s, getattr(pkt, self.attribute)


class DerivedField(AnyField):
    """A number that follows from the body unless it is given."""

    __slots__ = ["attribute"]

    def __init__(self, name: str, attribute: str, fmt: str) -> None:
        self.attribute = attribute
        super().__init__(name, None, fmt)

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        """Add the number. Raises ValueError when neither the caller nor the body gives it."""
        if val is None:
            val = getattr(pkt, self.attribute)
        if val is None:
            raise ValueError(f"{self.name} is needed, the body does not contain it")
        return s + self.struct.pack(val)


class ClientIdField(AnyField):
    """A nullable string with a length of two bytes, in flexible headers, too."""

    __slots__: list[str] = []

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:  # noqa: ARG002
        """None is null; bytes are taken as they are."""
        if val is None:
            return s + _INT16.pack(-1)
        raw = val.encode() if isinstance(val, str) else bytes(val)
        return s + _INT16.pack(len(raw)) + raw

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, str | bytes | None]:  # noqa: ARG002
        """Bytes instead of text where they are no UTF-8."""
        (length,) = _INT16.unpack_from(s)
        if length < 0:
            return s[2:], None
        raw = s[2 : 2 + length]
        if len(raw) < length:
            raise ValueError("the client id ends behind the frame")
        try:
            return s[2 + length :], raw.decode()
        except UnicodeDecodeError:
            return s[2 + length :], raw


class TagsField(AnyField):
    """The tagged fields of a header: tag -> bytes."""

    __slots__: list[str] = []
    ismutable = True

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:  # noqa: ARG002
        """Written in ascending order."""
        tags = val or {}
        parts = [encode_uvarint(len(tags))]
        for tag, data in sorted(tags.items()):
            parts += [encode_uvarint(tag), encode_uvarint(len(data)), data]
        return s + b"".join(parts)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, dict[int, bytes]]:  # noqa: ARG002
        """Raises ValueError or IndexError where the bytes are no tags."""
        count, at = decode_uvarint(s, 0)
        tags: dict[int, bytes] = {}
        for _ in range(count):
            tag, at = decode_uvarint(s, at)
            size, at = decode_uvarint(s, at)
            if at + size > len(s):
                raise ValueError("a tag ends behind the frame")
            tags[tag] = s[at : at + size]
            at += size
        return s[at:], tags


class BodyField(AnyField):
    """All the rest, as a ``Message``; ``Undecoded`` where that is not possible, or plain bytes."""

    __slots__: list[str] = []
    ismutable = True

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        """Raises EncodeError when the version cannot carry the message."""
        if val is None:
            return s
        if isinstance(val, Undecoded):
            return s + val.data
        if isinstance(val, Message):
            version = layer(pkt).kafka_version
            if version is None:
                raise ValueError("api_version is needed to write the body")
            return s + encode(val, version)
        return s + bytes(val)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Message | Undecoded]:
        """Strict: bytes left over are an error like any other."""
        cls, version = layer(pkt).body_class, layer(pkt).kafka_version
        if cls is None or version is None:
            return b"", Undecoded(s, "the api or its version is not known")
        try:
            return b"", decode(cls, version, s)
        except CodecError as error:
            return b"", Undecoded(s, str(error))

    def do_copy(self, x: Any) -> Any:
        """Deep, so that a changed message is noticed."""
        return copy.deepcopy(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:  # noqa: ARG002
        """As the codec shows it."""
        return repr(x)
