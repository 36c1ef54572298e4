"""JSON lines in, JSON lines out: every message, and whatever else a line may hold."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import encode
from harness.codec.dictionary_form import from_dict
from harness.codec.records import (
    TRANSACTIONAL,
    Header,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
)
from harness.codec.records import LegacyMessage as OldMessage
from harness.codec.structs import Message
from harness.codec.transcode import transcode_line
from harness.commands.codec.transcode import line_groups
from labs.message_values.all_kinds import ALL_KINDS
from labs.message_values.values import OLDER, QUICK, rich
from tests.codec.each_layout import each_version

pytestmark = pytest.mark.rotates(8)

KINDS_OF_HEADERS = {"RequestHeader": "request_header", "ResponseHeader": "response_header"}
COMMAND = (sys.executable, "-m", "harness.cli", "codec", "transcode")


def _asked(cls: type[Message], version: int, raw: bytes) -> dict[str, Any]:
    spec = cls.message_spec
    rest: dict[str, Any] = {"version": version, "hex": raw.hex()}
    if cls in OLDER:
        rest["release"] = OLDER[cls].partition("@")[2]
    if spec.type in ("request", "response"):
        return {"kind": spec.type, "api_key": spec.api_key, **rest}
    if cls.__name__ in KINDS_OF_HEADERS:
        return {"kind": KINDS_OF_HEADERS[cls.__name__], **rest}
    return {"kind": "data", "name": cls.__name__, **rest}


def _answer(asked: object) -> dict[str, Any]:
    line = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    said = transcode_line(line)
    assert b"\n" not in said
    found: dict[str, Any] = json.loads(said)
    return found


@each_version
def test_transcode_round_trips_every_message(cls: type[Message], version: int) -> None:
    if cls is ALL_KINDS:  # made up: no line can name it
        return
    raw = encode(rich(cls, version), version)
    answer = _answer(_asked(cls, version, raw))
    assert list(answer) == ["hex", "value"]
    assert answer["hex"] == raw.hex()
    assert encode(from_dict(cls, version, answer["value"]), version) == raw


@each_version
def test_transcode_of_damaged_message_returns_value_or_decode_error(
    cls: type[Message], version: int
) -> None:
    """One random byte of each version is changed; the answer is a value or a decode error."""
    raw = bytearray(encode(rich(cls, version), version))
    if cls is ALL_KINDS or not raw:
        return
    rng = random.Random(f"{cls.__name__}{version}")
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    answer = _answer(_asked(cls, version, bytes(raw)))
    if "error" in answer:
        assert answer["error"]["type"] == "DecodeError"
        assert 0 <= answer["error"]["offset"] <= len(raw)
        assert isinstance(answer["error"]["field"], str)
    else:
        assert list(answer) == ["hex", "value"]


def test_release_selects_layout() -> None:
    partition = "00000000" + "00000005" + "00000001" + "00000000" + "00000000"
    digits = "ffff" + "00000001" + "000174" + "00000001" + partition
    asked = {"kind": "request", "api_key": 54, "version": 0, "hex": digits}
    value = _answer({**asked, "release": "2.7.2"})["value"]
    assert value["topics"][0]["partitions"][0]["replica_id"] == 5
    for release in ("2.8", "4.4.0", None):
        error = _answer({**asked, "release": release})["error"]
        assert error["type"] == "DecodeError"  # no replica id: the last four bytes are too many
        assert error["offset"] == len(digits) // 2 - 4
    later = _answer({**asked, "version": 1, "release": "2.7"})["error"]
    assert later["type"] == "UnsupportedVersionError"


REQUEST = {"kind": "request", "api_key": 3, "version": 12}
REQUEST_HEX = "02" + "0000000000000000000000000000002a" + "00" + "01090100" + "010001070142"


def test_transcode_result_matches_hand_written_value() -> None:
    value = {
        "topics": [
            {
                "topic_id": "00000000-0000-0000-0000-00000000002a",
                "name": None,
                "_unknown_tagged_fields": [{"tag": 9, "hex": "00"}],
            }
        ],
        "allow_auto_topic_creation": True,
        "include_topic_authorized_operations": False,
        "_unknown_tagged_fields": [{"tag": 7, "hex": "42"}],
    }
    assert _answer({**REQUEST, "hex": REQUEST_HEX}) == {"hex": REQUEST_HEX, "value": value}


def test_transcode_of_headers_matches_hand_written_values() -> None:
    digits = "0012" + "0003" + "00000007" + "00026d65" + "00"
    answer = _answer({"kind": "request_header", "version": 2, "hex": digits})
    assert answer["value"] == {
        "request_api_key": 18,
        "request_api_version": 3,
        "correlation_id": 7,
        "client_id": "me",
    }
    answer = _answer({"kind": "request_header", "version": 0, "hex": digits[:16]})
    assert list(answer["value"]) == ["request_api_key", "request_api_version", "correlation_id"]
    answer = _answer({"kind": "response_header", "version": 0, "hex": "00000007"})
    assert answer == {"hex": "00000007", "value": {"correlation_id": 7}}


HUGE = b"9" * 5000
FETCH = {"kind": "request", "api_key": 1, "version": 4, "hex": ""}
HOSTILE: list[tuple[object, str, str | None, str]] = [
    (b"", "BadLineError", None, "not JSON"),
    (b"   ", "BadLineError", None, "not JSON"),
    (b"{", "BadLineError", None, "not JSON"),
    (b"\xff\xfe{}", "BadLineError", None, "not JSON"),
    (b"{}{}", "BadLineError", None, "not JSON"),
    (b'{"kind": NaN}', "BadLineError", None, "NaN is not JSON"),
    (b'{"api_key": ' + HUGE + b"}", "BadLineError", None, "not JSON"),
    (b"[" * 100_000, "BadLineError", None, "nested too deeply"),
    (b'{"kind":' * 100_000, "BadLineError", None, "nested too deeply"),
    ([], "BadLineError", None, "a JSON object expected, not list"),
    (None, "BadLineError", None, "a JSON object expected, not NoneType"),
    ("request", "BadLineError", None, "a JSON object expected, not str"),
    ({}, "BadLineError", "kind", "is missing"),
    ({**FETCH, "kind": None}, "BadLineError", "kind", "str expected, not NoneType"),
    ({**FETCH, "kind": []}, "BadLineError", "kind", "str expected, not list"),
    ({**FETCH, "kind": "Request"}, "BadLineError", "kind", "Request is none of request,"),
    ({**FETCH, "kind": "x" * 10**5}, "BadLineError", "kind", "x... is none of"),
    ({**FETCH, "kind": "\ud800"}, "BadLineError", "kind", "is none of request,"),
    ({"kind": "request", "version": 4, "hex": ""}, "BadLineError", "api_key", "is missing"),
    ({**FETCH, "api_key": "1"}, "BadLineError", "api_key", "int expected, not str"),
    ({**FETCH, "api_key": True}, "BadLineError", "api_key", "int expected, not bool"),
    ({**FETCH, "api_key": 1.0}, "BadLineError", "api_key", "int expected, not float"),
    ({**FETCH, "api_key": 10**4000}, "BadLineError", "api_key", "outside int16"),
    ({**FETCH, "api_key": -1}, "UnknownApiError", None, "no API with key -1"),
    ({**FETCH, "api_key": 95}, "UnknownApiError", None, "no API with key 95"),
    ({**FETCH, "version": None}, "BadLineError", "version", "int expected, not NoneType"),
    ({**FETCH, "version": 2**31}, "BadLineError", "version", "outside int16"),
    ({**FETCH, "version": -1}, "UnsupportedVersionError", None, "versions 0-18, not -1"),
    ({**FETCH, "version": 19}, "UnsupportedVersionError", None, "versions 0-18, not 19"),
    ({"kind": "request", "api_key": 1, "version": 4}, "BadLineError", "hex", "is missing"),
    ({**FETCH, "hex": 5}, "BadLineError", "hex", "str expected, not int"),
    ({**FETCH, "hex": "0"}, "BadLineError", "hex", "not hex digits"),
    ({**FETCH, "hex": "0g"}, "BadLineError", "hex", "not hex digits"),
    ({**FETCH, "hex": "\uff10\uff10"}, "BadLineError", "hex", "not hex digits"),
    ({**FETCH, "release": 2.7}, "BadLineError", "release", "str expected, not float"),
    ({**FETCH, "release": "new"}, "BadLineError", "release", "new is no release"),
    ({**FETCH, "release": "-2.7"}, "BadLineError", "release", "-2.7 is no release"),
    ({**FETCH, "release": " 2.7"}, "BadLineError", "release", " 2.7 is no release"),
    ({**FETCH, "release": "2_7"}, "BadLineError", "release", "2_7 is no release"),
    ({**FETCH, "release": "\u0662.7"}, "BadLineError", "release", "is no release"),
    ({**FETCH, "hex": "ff"}, "DecodeError", "replica_id", "4 bytes needed, 1 left"),
    ({"kind": "data", "version": 1, "hex": ""}, "BadLineError", "name", "is missing"),
    ({"kind": "data", "name": "No", "version": 1, "hex": ""}, "BadLineError", "name", "called No"),
    ({"kind": "data", "name": "../x", "version": 1, "hex": ""}, "BadLineError", "name", "called"),
    ({"kind": "request_header", "version": 3, "hex": ""}, "UnsupportedVersionError", None, "0-2"),
]


@pytest.mark.parametrize(("asked", "type_", "field", "said"), HOSTILE)
def test_malformed_line_returns_typed_error(
    asked: object, type_: str, field: str | None, said: str
) -> None:
    answer = _answer(asked)
    assert list(answer) == ["error"]
    assert list(answer["error"]) == ["type", "message", "field", "offset"]
    assert (answer["error"]["type"], answer["error"]["field"]) == (type_, field)
    assert said in answer["error"]["message"]


def test_decode_error_names_field_and_offset() -> None:
    cut = _answer({**REQUEST, "hex": REQUEST_HEX[:40]})["error"]
    assert cut == {
        "type": "DecodeError",
        "message": "MetadataRequest v12: topics[0].(tagged fields) at byte 19: "
        "the data ends inside a varint",
        "field": "topics[0].(tagged fields)",
        "offset": 19,
    }
    behind = _answer({**REQUEST, "hex": REQUEST_HEX + "00"})["error"]
    assert (behind["field"], behind["offset"]) == ("", len(REQUEST_HEX) // 2)


@settings(QUICK, max_examples=300)
@given(st.binary(max_size=80) | st.text(max_size=40).map(str.encode))
def test_any_line_returns_value_or_error(line: bytes) -> None:
    assert list(_answer(line.replace(b"\n", b""))) in (["error"], ["hex", "value"])


WORDS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@settings(QUICK, max_examples=300)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "kind": WORDS | st.sampled_from(["request", "response", "data", "request_header"]),
            "api_key": WORDS | st.integers(0, 94),
            "version": WORDS | st.integers(0, 18),
            "name": WORDS | st.sampled_from(["FetchRequest", "RequestHeader"]),
            "hex": WORDS | st.binary(max_size=30).map(bytes.hex),
            "release": WORDS | st.sampled_from(["2.7", "4.4.0"]),
        },
    )
)
def test_any_object_returns_value_or_error(asked: dict[str, Any]) -> None:
    assert list(_answer(json.dumps(asked, allow_nan=True).encode())) in (
        ["error"],
        ["hex", "value"],
    )


# -- the stream ------------------------------------------------------------------------------------


class _Chunks(io.BufferedIOBase):
    """Hands out what it was given, piece by piece."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    def read1(self, _size: int = -1) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""


@pytest.mark.parametrize(
    ("chunks", "groups"),
    [
        ([], []),
        ([b"a\nb\n"], [[b"a", b"b"]]),
        ([b"a\nb"], [[b"a"], [b"b"]]),
        ([b"a", b"b", b"\nc", b"\n"], [[b"ab"], [b"c"]]),
        ([b"\n\n"], [[b"", b""]]),
        ([b"a\r\n"], [[b"a\r"]]),
    ],
)
def test_line_groups_returns_lines_as_they_arrive(
    chunks: list[bytes], groups: list[list[bytes]]
) -> None:
    assert list(line_groups(_Chunks(chunks))) == groups


def test_command_replies_to_each_line_before_next_is_sent() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for version in (4, 99, 5):
            line = json.dumps({**REQUEST, "version": version, "hex": "0000000001"})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert ("error" in answer) == (version == 99)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


def test_command_returns_one_result_per_line_in_order() -> None:
    good = {"kind": "response_header", "version": 0}
    lines = [
        "nonsense" if number % 7 == 0 else json.dumps({**good, "hex": f"{number:08x}"})
        for number in range(20_000)
    ]
    ended = subprocess.run(
        COMMAND, input="\n".join(lines), capture_output=True, text=True, check=False
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, ended.stderr
    assert [a["value"]["correlation_id"] if "value" in a else None for a in answers] == [
        None if number % 7 == 0 else number for number in range(20_000)
    ]


# -- records ---------------------------------------------------------------------------------------

BATCH = encode_batch(
    RecordBatch(
        records=[Record(value=b"v", key=b"k", headers=[Header("h", b"\1")]), Record()],
        base_offset=7,
        base_timestamp=1000,
        producer_id=5,
        producer_epoch=1,
        base_sequence=3,
        attributes=TRANSACTIONAL,
    )
)


def test_uncompressed_records_round_trip_byte_for_byte() -> None:
    old = encode_message_set([OldMessage(value=b"a", offset=3, magic=0)])
    for raw in (b"", BATCH, old + BATCH, BATCH + BATCH[:40]):
        answer = _answer({"kind": "records", "hex": raw.hex()})
        assert list(answer) == ["hex", "value"]
        assert answer["hex"] == raw.hex()


def test_records_match_hand_written_value() -> None:
    (batch,) = _answer({"kind": "records", "hex": BATCH.hex()})["value"]
    records = batch.pop("records")
    assert records[0] == {
        "offset": 7,
        "timestamp": 1000,
        "timestamp_type": "CreateTime",
        "key": "6b",
        "value": "76",
        "headers": [["h", "01"]],
    }
    assert (records[1]["offset"], records[1]["key"], records[1]["value"]) == (8, None, None)
    assert (batch["magic"], batch["base_offset"], batch["compression"]) == (2, 7, "none")
    assert batch["attributes"]["transactional"] is True
    assert batch["producer_id"] == 5


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_round_trip_to_same_value(codec: str) -> None:
    raw = encode_batch(RecordBatch(records=[Record(value=b"v" * 100)] * 3), codec)
    first = _answer({"kind": "records", "hex": raw.hex()})
    assert first["value"][0]["compression"] == codec
    assert _answer({"kind": "records", "hex": first["hex"]})["value"] == first["value"]


def test_damaged_records_error_contains_byte_offset() -> None:
    damaged = bytearray(BATCH)
    damaged[-1] ^= 1
    error = _answer({"kind": "records", "hex": (BATCH + damaged).hex()})["error"]
    assert error["type"] == "CorruptMessageError"
    assert error["offset"] == len(BATCH)
    assert error["field"].startswith("[1]")
