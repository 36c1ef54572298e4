"""The traced tree: every byte has its field, and the fields are those of the message."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.codec import DecodeError, decode, encode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.structs import Message, Struct
from harness.codec.trace import UNREAD, TracedField, trace
from harness.codec.trace_text import trace_lines
from labs.message_values.values import outcome, rich
from tests.codec.each_layout import each_version
from tests.codec.test_golden import FETCH_REQUEST_V12, FETCH_RESPONSE_V13, raw

pytestmark = pytest.mark.rotates(8)


def _own_bytes(node: TracedField, data: bytes) -> bytes:
    return data[node.offset : node.inner[0].offset if node.inner else node.stop]


@each_version
def test_every_byte_belongs_to_one_field_in_order(cls: type[Message], version: int) -> None:
    """Each byte belongs to one field, and they stand in the order of the bytes."""
    data = encode(rich(cls, version), version)
    traced = trace(cls, version, data)
    assert traced.message == rich(cls, version)
    assert b"".join(_own_bytes(node, data) for node in traced.root.walk()) == data


@each_version
def test_tree_contains_values_of_message(cls: type[Message], version: int) -> None:
    message = rich(cls, version)
    data = b"before" + encode(message, version)
    root = trace(cls, version, data, 6).root
    assert (root.offset, root.stop) == (6, len(data))
    _compare(root, message)


def _compare(node: TracedField, value: Any) -> None:
    if isinstance(value, Struct):
        for inner in _fields(node):
            if inner.name != "(unknown)":
                _compare(inner, getattr(value, inner.name))
            else:
                assert inner.tag is not None
                assert value.unknown_tagged_fields[inner.tag] == inner.value
    elif isinstance(value, list):
        assert [inner.name for inner in node.inner] == [f"[{i}]" for i in range(len(value))]
        for inner, element in zip(node.inner, value, strict=True):
            _compare(inner, element)
    else:
        assert node.value == value


def _fields(node: TracedField) -> list[TracedField]:
    """Those of a struct, plain and tagged."""
    plain = [inner for inner in node.inner if inner.name != "(tagged fields)"]
    return plain + [one for inner in node.inner if inner not in plain for one in inner.inner]


@each_version
def test_trace_of_truncated_message_returns_read_fields_and_error(
    cls: type[Message], version: int
) -> None:
    data = encode(rich(cls, version), version)
    for size in {len(data) // 3, len(data) // 2, len(data) - 1} if data else ():
        cut = data[:size]
        traced = trace(cls, version, cut)
        with pytest.raises(DecodeError) as plain:
            decode(cls, version, cut)
        assert str(traced.error) == str(plain.value)
        assert traced.root.value is UNREAD
        with pytest.raises(DecodeError):
            _ = traced.message
        read = [node for node in traced.root.walk() if node.value is not UNREAD]
        assert all(node.stop <= size for node in read)
        assert list(trace_lines(traced.root, cut))


@each_version
def test_trace_and_decoder_agree_on_damaged_bytes(cls: type[Message], version: int) -> None:
    data = bytearray(encode(rich(cls, version), version))
    if not data:
        return
    rng = random.Random(f"{cls.__name__}{version}")
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    traced = trace(cls, version, bytes(data))
    plain = outcome(lambda: decode(cls, version, bytes(data)), DecodeError)
    if isinstance(plain, DecodeError):
        assert str(traced.error) == str(plain)
    else:
        assert encode(traced.message, version) == encode(plain, version)
    assert list(trace_lines(traced.root, bytes(data))) or not traced.root.inner


def test_trailing_bytes_are_reported_after_complete_tree() -> None:
    data = encode(FetchRequest(), 4)
    traced = trace(FetchRequest, 4, data + b"\0\0")
    assert isinstance(traced.error, DecodeError)
    assert (traced.error.path, traced.error.offset) == ("", len(data))
    assert traced.error.problem == "2 bytes left over after the message"
    assert traced.root.stop == len(data)
    assert trace(FetchRequest, 4, data + b"\0\0", whole=False).error is None


def test_field_offsets_match_vector() -> None:
    starts, at = set(), 0
    for digits, _ in FETCH_RESPONSE_V13:
        starts.add(at)
        at += len(bytes.fromhex(digits))
    traced = trace(FetchResponse, 13, raw(FETCH_RESPONSE_V13))
    assert starts <= {node.offset for node in traced.root.walk()}


TREE = """\
       0  ffffffff                replica_id int32 = -1
       4  000001f4                max_wait_ms int32 = 500
       8  00000001                min_bytes int32 = 1
      12  00100000                max_bytes int32 = 1048576
      16  01                      isolation_level int8 = 1
      17  00000000                session_id int32 = 0
      21  ffffffff                session_epoch int32 = -1
      25  02                      topics []FetchTopic, 1 element
      26                            [0] FetchTopic
      26  0274                        topic string = "t"
      28  02                          partitions []FetchPartition, 1 element
      29                                [0] FetchPartition
      29  00000003                        partition int32 = 3
      33  ffffffff                        current_leader_epoch int32 = -1
      37  000000000000002a                fetch_offset int64 = 42
      45  ffffffff                        last_fetched_epoch int32 = -1
      49  ffffffffffffffff                log_start_offset int64 = -1
      57  00008000                        partition_max_bytes int32 = 32768
      61  00                              (tagged fields) 0
      62  00                          (tagged fields) 0
      63  01                      forgotten_topics_data []ForgottenTopic, 0 elements
      64  01                      rack_id string = ""
      65  02                      (tagged fields) 2
      66  000404696433              tag 0: cluster_id string = "id3"
      72  0902aabb                  tag 9: (unknown) bytes = 2 bytes
"""


def test_text_of_vector_matches_expected_tree() -> None:
    data = raw(FETCH_REQUEST_V12)
    lines = trace_lines(trace(FetchRequest, 12, data).root, data)
    assert "".join(f"{line}\n" for line in lines) == TREE


def test_text_shortens_long_values_and_names_error_codes() -> None:
    data = encode(
        FetchResponse(
            error_code=35,
            responses=[
                FetchResponse.FetchableTopicResponse(
                    topic="é" * 200,
                    partitions=[FetchResponse.PartitionData(records=b"\x00\xff" * 20)],
                )
            ],
        ),
        12,
    )
    text = "\n".join(trace_lines(trace(FetchResponse, 12, data).root, data))
    assert "error_code int16 = 35 UNSUPPORTED_VERSION" in text
    assert "9103c3a9c3a9c3a9c3a9..      topic string = " in text
    assert ".. (200 characters)" in text
    assert "2900ff00ff00ff00ff00..          records records = 40 bytes" in text
    assert "aborted_transactions []AbortedTransaction, 0 elements" in text


def test_text_marks_field_that_is_not_readable() -> None:
    data = raw(FETCH_REQUEST_V12)
    assert _last_line(data[:71]) == "65 020004 (tagged fields) = not readable"
    assert _last_line(data[:40]) == "28 02 partitions []FetchPartition = not readable"
    assert _last_line(data[:21]) == "21 session_epoch int32 = not readable"


def _last_line(data: bytes) -> str:
    *_, last = trace_lines(trace(FetchRequest, 12, data).root, data)
    return " ".join(last.split())
