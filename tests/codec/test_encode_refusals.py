"""A field that a version cannot carry is refused by name, or dropped if it is ignorable."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from harness.codec import EncodeError, UnsupportedVersionError, decode, encode
from harness.codec.apis import APIS
from harness.codec.interpreter_encode import FieldWriter
from harness.codec.messages import ApiVersionsRequest, FetchRequest, MetadataRequest
from harness.codec.structs import Message, Struct
from labs.message_values.values import rich, rich_value, structs_in
from tests.codec.each_layout import each_version

pytestmark = pytest.mark.rotates(8)

INTS: tuple[Any, ...] = (1.5, "1", None, b"1", [])
WRONG: dict[str, tuple[Any, ...]] = {
    "int8": (*INTS, -129, 128),
    "int16": (*INTS, -32769, 32768),
    "uint16": (*INTS, -1, 65536),
    "int32": (*INTS, -(2**31) - 1, 2**31),
    "uint32": (*INTS, -1, 2**32),
    "int64": (*INTS, -(2**63) - 1, 2**63),
    "bool": (0, 1, None, "true"),
    "float64": ("1.0", None, b""),
    "uuid": ("00000000-0000-0000-0000-000000000000", b"\0" * 16, 0, None),
    "string": (b"text", 5, ["a"], "\ud800", "x" * 32768, "é" * 16384),
    "bytes": ("text", 5, [1, 2]),
    "records": ("text", 5, [1, 2]),
    "array": ("ab", b"ab", {}, 5),
    "struct": ({}, "ab", 5, FetchRequest()),
}


def refused(message: Message, version: int) -> EncodeError:
    """Return the error of `encode`; both encoders must refuse."""
    with pytest.raises(EncodeError) as caught:
        encode(message, version)
    with pytest.raises(EncodeError) as interpreted:
        FieldWriter(message, version).write()
    assert str(interpreted.value) == str(caught.value)
    assert (caught.value.message, caught.value.version) == (type(message).__name__, version)
    return caught.value


@each_version
def test_field_absent_at_version_is_refused_or_dropped_if_ignorable(
    cls: type[Message], version: int
) -> None:
    """Refused when it is set and not ignorable, dropped when it is ignorable; null counts too."""
    message = rich(cls, version)
    raw = encode(message, version)
    for path, own, at in list(structs_in(message, version)):
        for field in at.absent:
            before = getattr(own, field.name)
            values = [rich_value(cls, field, cls.message_spec.valid.highest)]
            if field.nullable and not field.default_is_null:
                values.append(None)
            for value in values:
                setattr(own, field.name, value)
                if field.ignorable:
                    assert encode(message, version) == raw
                else:
                    error = refused(message, version)
                    assert error.path == path + field.name
                    assert "cannot carry" in str(error)
            setattr(own, field.name, before)


def test_number_of_refused_and_ignorable_absent_fields_is_known() -> None:
    """Of requests and responses, so that the test above cannot become empty unseen."""
    found = {True: 0, False: 0}
    for api in APIS.values():
        for cls in (api.request, api.response):
            for version in cls.message_spec.valid:
                for _, _, at in structs_in(rich(cls, version), version):
                    for field in at.absent:
                        found[field.ignorable] += 1
    assert found == {False: 550, True: 660}


@each_version
def test_wrong_type_or_out_of_range_value_raises_error_with_field_path(
    cls: type[Message], version: int
) -> None:
    message = rich(cls, version)
    for path, own, at in list(structs_in(message, version)):
        for slot in (*at.plain, *at.tagged.values()):
            name, kind = slot.field.name, slot.field.kind
            before = getattr(own, name)
            for wrong in WRONG[kind]:
                if slot.field.tag >= 0 and wrong == slot.field.default:
                    continue  # 0 is False, and a tagged field at its default is not written
                setattr(own, name, wrong)
                assert refused(message, version).path == path + name
            if not slot.nullable and kind in ("string", "bytes", "records", "array", "struct"):
                setattr(own, name, None)
                assert "None" in str(refused(message, version))
            setattr(own, name, before)


@each_version
def test_wrong_element_raises_error_with_its_position(cls: type[Message], version: int) -> None:
    message = rich(cls, version)
    for path, own, at in list(structs_in(message, version)):
        for slot in (*at.plain, *at.tagged.values()):
            if slot.field.kind != "array":
                continue
            elements = getattr(own, slot.field.name)
            for wrong in (*WRONG[slot.field.element], None):
                setattr(own, slot.field.name, [elements[0], wrong])
                error = refused(message, version)
                assert error.path.startswith(f"{path}{slot.field.name}[1]")
            setattr(own, slot.field.name, elements)


UNKNOWN_TAGS: list[tuple[dict[Any, Any], str]] = [
    ({-1: b""}, "tag of 0"),
    ({2**32: b""}, "tag of 0"),
    ({"60": b""}, "tag of 0"),
    ({60: "text"}, "bytes expected"),
    ({60: [1, 2]}, "bytes expected"),
    ({60: None}, "bytes expected"),
]


@each_version
def test_invalid_unknown_tagged_fields_are_refused(cls: type[Message], version: int) -> None:
    for path, own, at in list(structs_in(message := rich(cls, version), version)):
        before = own.unknown_tagged_fields
        for tags, problem in UNKNOWN_TAGS:
            own.unknown_tagged_fields = tags
            error = refused(message, version)
            assert error.path == path.rstrip(".")
            assert (problem if at.flexible else "not flexible") in str(error)
        own.unknown_tagged_fields = before


@each_version
def test_known_tag_among_unknown_tagged_fields_is_refused(cls: type[Message], version: int) -> None:
    for _, own, at in list(structs_in(message := rich(cls, version), version)):
        for field in own.spec.fields:
            if field.tag >= 0 and at.flexible:
                own.unknown_tagged_fields = {field.tag: b""}
                assert "is a field of this struct" in str(refused(message, version))
        own.unknown_tagged_fields = {}


def test_string_of_maximum_size_round_trips() -> None:
    for version in (2, 3):
        request = ApiVersionsRequest(client_software_name="x" * 32767 if version == 3 else "")
        assert decode(ApiVersionsRequest, version, encode(request, version)) == request


def test_null_is_refused_at_version_without_null() -> None:
    error = refused(MetadataRequest(topics=None), 0)
    assert str(error) == "MetadataRequest v0: topics: None, but this version allows no null"
    assert encode(MetadataRequest(topics=None), 1) == b"\xff\xff\xff\xff"


def test_error_path_includes_list_positions_and_structs() -> None:
    partition = FetchRequest.FetchPartition(partition=2**31)
    topics = [FetchRequest.FetchTopic(), FetchRequest.FetchTopic(partitions=[partition])]
    error = refused(FetchRequest(topics=topics), 12)
    assert error.path == "topics[1].partitions[0].partition"
    assert str(error).startswith("FetchRequest v12: topics[1].partitions[0].partition: 2147483648")


def test_unknown_version_raises_unsupported_version_error() -> None:
    for call in (lambda: encode(FetchRequest(), 19), lambda: decode(FetchRequest, -1, b"")):
        with pytest.raises(UnsupportedVersionError, match=r"FetchRequest has versions 0-18, not"):
            call()


def test_refused_message_is_unchanged() -> None:
    message = FetchRequest(max_wait_ms=2**40, topics=[FetchRequest.FetchTopic(topic="t")])
    before = copy.deepcopy(message)
    refused(message, 4)
    assert message == before


def test_constructor_refuses_unknown_field() -> None:
    kinds: list[type[Struct]] = [FetchRequest, FetchRequest.FetchTopic]
    for cls in kinds:
        with pytest.raises(TypeError, match="no_such"):
            cls(no_such=1)
