"""Every message at every version, read by both decoders, strictly and tolerantly.

An input is a kind, then: a whole request; or a response's api key and version and the whole
response; or a definition's number and version and the body.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from harness.capture.events import REQUEST as CAPTURED_REQUEST
from harness.codec import DecodeError, decode, decode_prefix, encode
from harness.codec.apis import APIS
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.header import (
    RequestRefused,
    decode_request_header,
    encode_request,
    encode_response,
)
from harness.codec.interpreter_decode import FieldReader
from harness.codec.interpreter_encode import FieldWriter
from harness.codec.messages import ResponseHeader, message_class, message_names, older_releases
from harness.codec.structs import Message
from harness.codec.trace import trace
from harness.codec.trace_text import trace_lines
from labs.captures.recorded import FILES, follow, messages, port_of, segments
from labs.fuzz.memory import check_memory, sampled
from labs.message_values.values import rich

REQUEST, RESPONSE, BODY = range(3)
MOST_RECORDED_BYTES = 600
_SELECTOR = struct.Struct(">BIB")
_TRACED = 8
_MEASURED = 512  # one input in so many


class FuzzedLayout(NamedTuple):
    """The layout of the bytes of an input from ``start`` on."""

    cls: type[Message]
    version: int
    start: int


def check(data: bytes) -> None:
    """Assert that both decoders agree, and that the result survives encoding."""
    found = _select(data)
    if found is None:
        return
    strict = _agreed(data, *found, tolerant=False)
    tolerant = _agreed(data, *found, tolerant=True)
    if isinstance(strict, Message):
        assert isinstance(tolerant, Message), f"only a strict reader takes it: {tolerant}"
        assert _written(strict, found.version) == _written(tolerant, found.version)
        _check_round_trip(strict, found.version)
    if sampled(data, _TRACED):
        _check_trace(data, found, strict)
    if sampled(data, _MEASURED):
        check_memory(lambda: decode_prefix(found.cls, found.version, data, found.start), len(data))


def _check_trace(data: bytes, found: FuzzedLayout, strict: Message | DecodeError) -> None:
    """Assert that the trace agrees with the decoders, and that all of it can be shown."""
    traced = trace(found.cls, found.version, data, found.start, whole=False)
    if isinstance(strict, DecodeError):
        assert str(traced.error) == str(strict)
    else:
        assert _equal(traced.message, strict)
    for node in traced.root.walk():
        assert found.start <= node.offset <= node.stop <= len(data), node
    assert all(trace_lines(traced.root, data))


def _select(data: bytes) -> FuzzedLayout | None:
    if len(data) < _SELECTOR.size:
        return None
    kind, number, version = _SELECTOR.unpack_from(data)
    kind %= 3
    if kind == REQUEST:
        return _of_request(data)
    if kind == RESPONSE:
        return _of_response(data, number, version)
    key = _bodies().get(number) or sorted(_bodies().values())[number % len(_bodies())]
    cls = _class(key)
    return FuzzedLayout(cls, _version(cls, version), _SELECTOR.size)


def _of_request(data: bytes) -> FuzzedLayout | None:
    for tolerant in (True, False):
        try:
            header, start = decode_request_header(data[1:], tolerant=tolerant)
        except (DecodeError, RequestRefused):
            return None
    api = APIS[header.request_api_key]
    return FuzzedLayout(api.request, header.request_api_version, start + 1)


def _of_response(data: bytes, key: int, version: int) -> FuzzedLayout | None:
    api = APIS.get(key) or APIS[sorted(APIS)[key % len(APIS)]]
    version = _version(api.response, version)
    header_version = api.response_header_version(version)
    try:
        _, start = decode_prefix(ResponseHeader, header_version, data, _SELECTOR.size)
    except DecodeError:
        return None
    return FuzzedLayout(api.response, version, start)


def _version(cls: type[Message], number: int) -> int:
    valid = cls.message_spec.valid
    return number if number in valid else valid.lowest + number % len(list(valid))


@cache
def _bodies() -> dict[int, str]:
    """Number -> ``NAME`` or ``NAME@RELEASE``; the number stays when definitions are added."""
    keys = [*message_names(), *(f"{n}@{r}" for n in message_names() for r in older_releases(n))]
    found = {_number(key): key for key in keys}
    assert len(found) == len(keys), "two definitions have one number"
    return found


def _number(key: str) -> int:
    return zlib.crc32(key.encode())


def _class(key: str) -> type[Message]:
    name, _, release = key.partition("@")
    return message_class(name, release or None)


def _agreed(
    data: bytes, cls: type[Message], version: int, start: int, *, tolerant: bool
) -> Message | DecodeError:
    """Return the result of both decoders: the message, or the error. They must be equal."""
    found = [
        _outcome(lambda: decode_prefix(cls, version, data, start, tolerant=tolerant)),
        _outcome(lambda: _interpreted(data, cls, version, start, tolerant)),
    ]
    (one, other), (end, other_end) = zip(*found, strict=True)
    assert type(one) is type(other), f"generated: {one!r}; interpreted: {other!r}"
    assert end == other_end, f"generated decoder ends at {end}, the interpreter at {other_end}"
    if isinstance(one, DecodeError):
        assert str(one) == str(other)
        assert start <= one.offset <= len(data), one.offset
        assert (one.message, one.version) == (cls.message_spec.name, version)
        return one
    assert isinstance(one, Message)
    assert isinstance(other, Message)
    assert _equal(one, other), f"generated: {one!r}; interpreted: {other!r}"
    return one


def _interpreted(
    data: bytes, cls: type[Message], version: int, start: int, tolerant: bool
) -> tuple[Message, int]:
    reader = FieldReader(cls, version, data, start, tolerant)
    return reader.read(), reader.offset


def _outcome(call: Any) -> tuple[Message | DecodeError, int]:
    try:
        message, end = call()
    except DecodeError as error:
        return error, -1
    return message, end


def _equal(one: Message, other: Message) -> bool:
    return one == other or repr(one) == repr(other)  # a NaN does not equal itself


def _check_round_trip(message: Message, version: int) -> None:
    raw = encode(message, version)
    assert raw == FieldWriter(message, version).write()
    again = decode(type(message), version, raw)
    assert _equal(again, message), f"written {message!r}, read {again!r}"
    assert encode(again, version) == raw
    form = to_dict(message, version)
    assert encode(from_dict(type(message), version, form), version) == raw


def _written(message: Message, version: int) -> bytes:
    return encode(message, version)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Yield a rich message of the lowest and highest version, and of the first flexible one.

    Also the recorded frames of these versions, of a real Kafka and its clients.
    """
    yield from recorded()
    for api in APIS.values():
        for version in _chosen(api.request):
            raw = encode_request(rich(api.request, version), version, 7)
            yield f"{api.name}Request-v{version}", bytes([REQUEST]) + raw
        for version in _chosen(api.response):
            raw = encode_response(rich(api.response, version), version, 7)
            yield f"{api.name}Response-v{version}", _SELECTOR.pack(RESPONSE, api.key, version) + raw
    for number, key in _bodies().items():
        cls = _class(key)
        if "@" not in key and cls.message_spec.type in ("request", "response"):
            continue
        for version in _chosen(cls):
            raw = encode(rich(cls, version), version)
            yield f"{key}-v{version}", _SELECTOR.pack(BODY, number, version) + raw


def recorded() -> Iterator[tuple[str, bytes]]:
    """Yield the shortest recorded frame of each version, from real clients and a real Kafka."""
    found: dict[tuple[str, int], bytes] = {}
    for file in FILES:
        for event in messages(follow(segments(file), port_of(file))[0]):
            if event.api is None or event.version is None or event.cut:
                continue
            cls = event.api.request if event.direction == CAPTURED_REQUEST else event.api.response
            key, raw = (cls.__name__, event.version), event.payload
            chosen = event.version in _chosen(cls) and len(raw) < MOST_RECORDED_BYTES
            if chosen and len(raw) <= len(found.get(key, raw)):
                found[key] = _as_input(event.direction, event.api.key, event.version, raw)
    for (name, version), data in found.items():
        yield f"kafka-{name}-v{version}", data


def _as_input(direction: str, key: int, version: int, raw: bytes) -> bytes:
    if direction == CAPTURED_REQUEST:
        return bytes([REQUEST]) + raw
    return _SELECTOR.pack(RESPONSE, key, version) + raw


def _chosen(cls: type[Message]) -> list[int]:
    valid, flexible = cls.message_spec.valid, cls.message_spec.flexible
    first_flexible = [version for version in valid if version in flexible][:1]
    return sorted({valid.lowest, valid.highest, *first_flexible})


HOSTILE = (
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x80\x00",
    b"\xff\xff",
    b"\x80\x00",
    b"\xc3\x28",
    b"\x00",
    b"\x01",
    b"\x02",
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the message with a wrong length or count, or with another version."""
    made = bytearray(data)
    if len(made) < 8:
        return data
    if chance.random() < 0.2:
        made[chance.choice((4, 5))] = chance.randrange(20)
    else:
        wrong = chance.choice(HOSTILE)
        at = chance.randrange(4, len(made))
        made[at : at + (len(wrong) if chance.random() < 0.5 else 1)] = wrong
    return bytes(made)


def repaired(data: bytes, chance: random.Random) -> bytes:
    """As it is: a message has no checksum."""
    return data
