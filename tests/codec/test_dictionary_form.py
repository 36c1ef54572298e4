"""Messages as dictionaries and back, at every version."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import EncodeError, UnsupportedVersionError, encode
from harness.codec.dictionary_form import UNKNOWN_TAGS, DictionaryError, from_dict, to_dict
from harness.codec.messages import (
    FetchRequest,
    MetadataRequest,
    OffsetCommitRequest,
    ProduceRequest,
)
from harness.codec.structs import Message
from labs.message_values.all_kinds import ALL_KINDS
from labs.message_values.values import QUICK, messages_at, rich, structs_in
from tests.codec.each_layout import each_due_version, each_version

pytestmark = pytest.mark.rotates(8)


@each_due_version
@settings(QUICK, max_examples=3)
@given(data=st.data())
def test_message_round_trips_through_json(
    cls: type[Message], version: int, data: st.DataObject
) -> None:
    message = data.draw(messages_at(cls, version))
    form = json.loads(json.dumps(to_dict(message, version), allow_nan=False))
    assert from_dict(cls, version, form) == message


@each_version
def test_message_from_json_encodes_to_same_bytes(cls: type[Message], version: int) -> None:
    message = rich(cls, version)
    made = from_dict(cls, version, json.loads(json.dumps(to_dict(message, version))))
    assert encode(made, version) == encode(message, version)


@each_version
def test_to_dict_returns_exactly_fields_of_version(cls: type[Message], version: int) -> None:
    message = rich(cls, version)
    form = to_dict(message, version)
    for path, _, own in structs_in(message, version):
        inner: Any = form
        for name in path.replace("[0]", ".0").strip(".").split(".") if path else []:
            inner = inner[int(name)] if name.isdecimal() else inner[name]
        carried = [slot.field.name for slot in (*own.plain, *own.tagged.values())]
        assert list(inner) == carried + ([UNKNOWN_TAGS] if own.flexible else [])


def test_to_dict_matches_hand_written_dictionary() -> None:
    topic = MetadataRequest.MetadataRequestTopic(name=None, unknown_tagged_fields={9: b"\1\2"})
    message = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
    assert to_dict(message, 12) == {
        "topics": [
            {
                "topic_id": "00000000-0000-0000-0000-000000000000",
                "name": None,
                "_unknown_tagged_fields": [{"tag": 9, "hex": "0102"}],
            }
        ],
        "allow_auto_topic_creation": False,
        "include_topic_authorized_operations": False,
    }
    topic = MetadataRequest.MetadataRequestTopic(name="t")
    assert to_dict(MetadataRequest(topics=[topic]), 0) == {"topics": [{"name": "t"}]}


def test_to_dict_includes_tagged_fields_at_default() -> None:
    assert to_dict(FetchRequest(), 12)["cluster_id"] is None
    assert "cluster_id" not in to_dict(FetchRequest(), 11)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (0.5, 0.5)],
)
def test_nonfinite_floats_round_trip_as_words(value: float, shown: object) -> None:
    form = to_dict(ALL_KINDS(ratio=value), 0)
    assert form["ratio"] == shown
    made: Any = from_dict(ALL_KINDS, 0, json.loads(json.dumps(form, allow_nan=False)))
    assert made.ratio == value or (math.isnan(made.ratio) and math.isnan(value))


def test_nan_round_trips_with_its_bits() -> None:
    (number,) = struct.unpack(">d", bytes.fromhex("ffff040000000001"))
    form = to_dict(ALL_KINDS(ratio=number), 0)
    assert form["ratio"] == "NaN(0xffff040000000001)"
    raw = encode(from_dict(ALL_KINDS, 0, form), 0)
    assert bytes.fromhex("ffff040000000001") in raw


@pytest.mark.parametrize("word", ["NaN(0x3ff0000000000000)", "NaN(0x7ff8)", "nan"])
def test_from_dict_refuses_malformed_nan(word: str) -> None:
    with pytest.raises(DictionaryError, match=r"ratio: a number expected"):
        from_dict(ALL_KINDS, 0, {"ratio": word})


def test_from_dict_sets_defaults_of_missing_fields() -> None:
    assert from_dict(FetchRequest, 4, {"max_wait_ms": 5}) == FetchRequest(max_wait_ms=5)


def _partition(**fields: Any) -> dict[str, Any]:
    return {"topics": [{"name": "t", "partitions": [fields]}]}


TOO_LARGE = 10**5000
RECORDS = {"topic_data": [{"name": "t", "partition_data": [{"records": "0g"}]}]}
TWICE = [{"tag": 7, "hex": ""}, {"tag": 7, "hex": "00"}]
BAD: list[tuple[type[Message], int, Any, str, str]] = [
    (MetadataRequest, 9, [], "", "an object expected, not []"),
    (MetadataRequest, 9, {"topic": []}, "topic", "no such field; there are topics, allow_auto"),
    (MetadataRequest, 9, {5: 1}, "5", "no such field"),
    (MetadataRequest, 9, {"topics": {}}, "topics", "a list expected, not {}"),
    (MetadataRequest, 0, {"topics": None}, "topics", "null where this version allows none"),
    (MetadataRequest, 9, {"topics": ["t"]}, "topics[0]", "an object expected, not 't'"),
    (MetadataRequest, 9, {"topics": [None]}, "topics[0]", "an object expected, not None"),
    (MetadataRequest, 9, {"topics": [{"name": 5}]}, "topics[0].name", "string expected, not 5"),
    (MetadataRequest, 9, {"topics": [{"topic_id": "x"}]}, "topics[0].topic_id",
     "this version does not carry it, versions 10+ do"),
    (MetadataRequest, 10, {"topics": [{"topic_id": "x"}]}, "topics[0].topic_id", "a UUID expected"),
    (MetadataRequest, 10, {"topics": [{"topic_id": "0" * 32}]}, "topics[0].topic_id", "8-4-4-4-12"),
    (MetadataRequest, 9, {"allow_auto_topic_creation": 1}, "allow_auto_topic_creation",
     "bool expected, not 1"),
    (OffsetCommitRequest, 2, _partition(partition_index=True),
     "topics[0].partitions[0].partition_index", "int32, -2147483648 to 2147483647, expected"),
    (OffsetCommitRequest, 2, _partition(partition_index=1.0),
     "topics[0].partitions[0].partition_index", "expected, not 1.0"),
    (OffsetCommitRequest, 2, _partition(committed_offset=TOO_LARGE),
     "topics[0].partitions[0].committed_offset", "an integer of 16610 bits"),
    (ProduceRequest, 3, RECORDS, "topic_data[0].partition_data[0].records", "hex digits expected"),
    (MetadataRequest, 9, {UNKNOWN_TAGS: 5}, UNKNOWN_TAGS, "a list expected, not 5"),
    (MetadataRequest, 9, {UNKNOWN_TAGS: [5]}, f"{UNKNOWN_TAGS}[0]", '{"tag", "hex"} expected'),
    (MetadataRequest, 9, {UNKNOWN_TAGS: [{"tag": -1, "hex": ""}]}, f"{UNKNOWN_TAGS}[0].tag",
     "uint32"),
    (MetadataRequest, 9, {UNKNOWN_TAGS: [{"tag": 7, "hex": 0}]}, f"{UNKNOWN_TAGS}[0].hex", "hex"),
    (MetadataRequest, 9, {UNKNOWN_TAGS: TWICE}, f"{UNKNOWN_TAGS}[1].tag", "tag 7 stands there"),
    (ALL_KINDS, 0, {"ratio": "much"}, "ratio", "a number expected, not 'much'"),
    (ALL_KINDS, 0, {"ratio": 10**400}, "ratio", "too large for float64"),
    (ALL_KINDS, 0, {"ratio": True}, "ratio", "a number expected, not True"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "version", "value", "path", "said"), BAD)
def test_from_dict_of_wrong_value_raises_dictionary_error_with_path(
    cls: type[Message], version: int, value: Any, path: str, said: str
) -> None:
    with pytest.raises(DictionaryError) as caught:
        from_dict(cls, version, value)
    assert isinstance(caught.value, EncodeError)
    assert (caught.value.message, caught.value.version) == (cls.__name__, version)
    assert caught.value.path == path
    assert said in caught.value.problem


def test_unknown_version_raises_unsupported_version_error() -> None:
    with pytest.raises(UnsupportedVersionError, match="versions 0-18, not 19"):
        to_dict(FetchRequest(), 19)
    with pytest.raises(UnsupportedVersionError, match="versions 0-18, not -1"):
        from_dict(FetchRequest, -1, {})
