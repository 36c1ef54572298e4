"""Every length, count, text and tagged section of every message, made wrong: the error names it."""

from __future__ import annotations

import pytest

from harness.codec import DecodeError, decode, decode_prefix, encode
from harness.codec.structs import Message
from labs.message_values.values import rich
from tests.codec.each_layout import each_version
from tests.codec.places import Place, places

pytestmark = pytest.mark.rotates(8)

OVERLONG, ABOVE_32_BITS = b"\x80\x80\x80\x80\x80\x00", b"\xff\xff\xff\xff\x1f"
ABSURD = {
    "compact": (b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x80\x80\x80\x80\x01"),
    "string": (b"\x7f\xff",),
    "other": (b"\x7f\xff\xff\xff", b"\x40\x00\x00\x00"),
}
NEGATIVE = {"string": (b"\xff\xfe", b"\x80\x00"), "other": (b"\xff\xff\xff\xfe", b"\x80\0\0\0")}


def refused(cls: type[Message], version: int, data: bytes, place: Place) -> DecodeError:
    """The error of reading ``data``, which must name the field of ``place`` and where it stands."""
    with pytest.raises(DecodeError) as caught:
        decode(cls, version, data)
    error = caught.value
    assert (error.message, error.version) == (cls.__name__, version)
    assert error.path == place.path
    assert place.start <= error.offset <= len(data)
    return error


def _with(raw: bytes, place: Place, wrong: bytes) -> bytes:
    return raw[: place.start] + wrong + raw[place.stop :]


def _distinct(cls: type[Message], version: int) -> tuple[bytes, list[Place]]:
    """A rich message, and its places but for those of repeated elements."""
    raw = encode(rich(cls, version), version)
    return raw, [place for place in places(cls, version, raw) if "[1]" not in place.path]


def _form(place: Place) -> str:
    return "compact" if place.compact else "string" if place.what == "string" else "other"


@each_version
def test_null_is_refused_at_version_without_null(cls: type[Message], version: int) -> None:
    raw, found = _distinct(cls, version)
    for place in found:
        if place.what == "tags":
            continue
        null = b"\0" if place.compact else b"\xff" * (place.stop - place.start)
        if not place.nullable:
            error = refused(cls, version, _with(raw, place, null), place)
            assert error.problem == "null where this version allows none"
            assert error.offset == place.start
        elif "(tagged" not in place.path:  # there the size of the tag would be wrong
            data = raw[: place.start] + null + raw[place.end :]
            assert decode_prefix(cls, version, data)[1] == len(data)


@each_version
def test_negative_length_raises_decode_error(cls: type[Message], version: int) -> None:
    """-1 is null; any other is an error, also where null is allowed."""
    raw, found = _distinct(cls, version)
    for place in found:
        if not place.compact:
            for wrong in NEGATIVE[_form(place)]:
                error = refused(cls, version, _with(raw, place, wrong), place)
                assert "negative length -" in error.problem
                assert error.offset == place.start


@each_version
def test_length_above_remaining_bytes_raises_decode_error(cls: type[Message], version: int) -> None:
    raw, found = _distinct(cls, version)
    for place in found:
        if place.what == "tags":
            continue
        for wrong in ABSURD[_form(place)]:
            refused(cls, version, _with(raw, place, wrong), place)


@each_version
def test_overlong_varint_raises_decode_error(cls: type[Message], version: int) -> None:
    raw, found = _distinct(cls, version)
    for place in found:
        if place.compact:
            for wrong, problem in ((OVERLONG, "longer than 5 bytes"), (ABOVE_32_BITS, "32 bits")):
                error = refused(cls, version, _with(raw, place, wrong), place)
                assert problem in error.problem


@each_version
def test_string_that_is_not_utf8_raises_decode_error(cls: type[Message], version: int) -> None:
    raw, found = _distinct(cls, version)
    for place in found:
        if place.what == "string":
            data = raw[: place.stop] + b"\xc3\x28" + raw[place.stop + 2 :]
            assert place.end - place.stop == 2
            error = refused(cls, version, data, place)
            assert "not UTF-8" in error.problem


@each_version
def test_duplicate_or_descending_tags_raise_decode_error(cls: type[Message], version: int) -> None:
    """In every tagged section; after a known tag that is a lower one too."""
    raw, found = _distinct(cls, version)
    for place in found:
        if place.what == "tags" and "(tagged fields)." not in place.path:
            for wrong in (b"\x02\x7f\0\x7f\0", b"\x02\x7f\0\x7e\0"):
                data = raw[: place.start] + wrong + raw[place.end :]
                error = refused(cls, version, data, place)
                assert "tags must ascend" in error.problem
                assert error.offset == place.start + 3


@each_version
def test_unknown_tags_round_trip(cls: type[Message], version: int) -> None:
    """In every tagged section two of them, one without a byte; the bytes come back."""
    raw, found = _distinct(cls, version)
    for place in found:
        if place.what == "tags" and "(tagged fields)." not in place.path:
            tags = b"\x02\x7e\0\xff\xff\xff\xff\x0f\x03abc"
            data = raw[: place.start] + tags + raw[place.end :]
            assert encode(decode(cls, version, data), version) == data
