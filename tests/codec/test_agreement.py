"""Generated and interpreted codecs are written apart, and must agree on everything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import DecodeError, decode, decode_prefix, encode
from harness.codec.interpreter_decode import FieldReader
from harness.codec.interpreter_encode import FieldWriter
from harness.codec.structs import Message
from labs.message_values.values import QUICK, messages_at, outcome, rich
from tests.codec.each_layout import each_due_class, each_due_version, each_version

pytestmark = pytest.mark.rotates(8)


@each_due_version
@settings(QUICK, max_examples=4)
@given(data=st.data())
def test_generated_and_interpreted_codecs_agree_on_valid_messages(
    cls: type[Message], version: int, data: st.DataObject
) -> None:
    message = data.draw(messages_at(cls, version))
    raw = encode(message, version)
    assert raw == FieldWriter(message, version).write()
    read = decode(cls, version, raw)
    assert read == message
    assert FieldReader(cls, version, raw).read() == message
    assert encode(read, version) == raw


@each_version
def test_rich_message_round_trips_without_loss(cls: type[Message], version: int) -> None:
    message = rich(cls, version)
    read = decode(cls, version, encode(message, version))
    assert read == message
    assert repr(read) == repr(message)


@each_version
def test_decode_prefix_reads_message_between_other_bytes(cls: type[Message], version: int) -> None:
    raw = encode(rich(cls, version), version)
    read, end = decode_prefix(cls, version, b"before" + raw + b"\0after", 6)
    assert read == rich(cls, version)
    assert end == 6 + len(raw)


@each_due_version
def test_decode_of_every_truncated_message_raises_decode_error(
    cls: type[Message], version: int
) -> None:
    """No prefix of a message is a message, whatever field the cut goes through."""
    raw = encode(rich(cls, version), version)
    for size in range(len(raw)):
        with pytest.raises(DecodeError) as caught:
            decode(cls, version, raw[:size])
        _check_place(caught.value, cls, version, size)
        assert caught.value.path


@each_version
def test_decode_of_trailing_bytes_raises_decode_error(cls: type[Message], version: int) -> None:
    raw = encode(rich(cls, version), version)
    with pytest.raises(DecodeError, match="1 bytes left over") as caught:
        decode(cls, version, raw + b"\0")
    assert caught.value.offset == len(raw)


@each_due_class
@settings(QUICK, max_examples=30)
@given(data=st.data())
def test_decoders_agree_on_damaged_bytes(cls: type[Message], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(list(cls.message_spec.valid)))
    raw = bytearray(encode(data.draw(messages_at(cls, version)), version))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        stop = start + data.draw(st.integers(0, 4))
        raw[start:stop] = data.draw(st.binary(max_size=4) | st.sampled_from(_HOSTILE))
    _agree(cls, version, bytes(raw))


@each_due_class
@settings(QUICK, max_examples=15)
@given(raw=st.binary(max_size=60))
def test_decoders_agree_on_random_bytes(cls: type[Message], raw: bytes) -> None:
    for version in cls.message_spec.valid:
        _agree(cls, version, raw)


_HOSTILE = [
    b"\xff",
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\xff" * 5,
    b"\x80" * 4 + b"\x0f",
    b"\0" * 4,
]


def _agree(cls: type[Message], version: int, raw: bytes) -> None:
    strict = _agreed(cls, version, raw, tolerant=False)
    tolerant = _agreed(cls, version, raw, tolerant=True)
    assert isinstance(strict, DecodeError) or _same(strict, tolerant)


def _agreed(cls: type[Message], version: int, raw: bytes, *, tolerant: bool) -> Any:
    """(message, end) or the DecodeError, from both decoders alike."""
    reader = FieldReader(cls, version, raw, tolerant=tolerant)
    interpreted = outcome(lambda: (reader.read(), reader.offset), DecodeError)
    public = outcome(lambda: decode_prefix(cls, version, raw, tolerant=tolerant), DecodeError)
    assert _same(interpreted, public)
    if isinstance(interpreted, DecodeError):
        _check_place(interpreted, cls, version, len(raw))
        assert str(public) == str(interpreted)
    return public


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, DecodeError) or isinstance(other, DecodeError):
        return isinstance(one, DecodeError) and isinstance(other, DecodeError)
    return bool(one == other) or "nan" in repr(one) == repr(other)  # damage can make a NaN


def _check_place(error: DecodeError, cls: type[Message], version: int, size: int) -> None:
    assert (error.message, error.version) == (cls.__name__, version)
    assert 0 <= error.offset <= size
    assert f"{cls.__name__} v{version}" in str(error)
    assert f"byte {error.offset}" in str(error)
