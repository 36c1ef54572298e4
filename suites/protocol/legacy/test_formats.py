"""LEG: the message format of Kafka 0.7 and a proposal, by document only."""

from __future__ import annotations

import struct
import zlib

import pytest

from harness.conformance.checks import requirement
from harness.historical.enriched_message import absolute_offsets, decode_enriched
from harness.historical.messages_0_7 import Message07, entry_bytes, read_message_set
from harness.historical.requests_0_7 import (
    FetchResponse,
    MultiFetchResponse,
    decode_fetch_response,
    decode_multi_fetch_response,
    encode_fetch_response,
    encode_multi_fetch_response,
)
from harness.runner.marks import judges, offline
from suites.protocol.support.bytes_0_7 import entry, gzipped, log_of, snapped

LIMIT_BYTES = 1 << 20
GOLDEN = {
    0: "0000000e 00 cbf43926 313233343536373839",
    1: "0000000f 01 00 cbf43926 313233343536373839",
}
PAYLOADS = (b"", b"a", b"123456789", b"\xff" * 300)
UNKNOWN_TAG = "63 0102"
NUM_MESSAGES, TIME = "20 00000003", "00 0000000000000400"


@offline()
@judges("LEG-001")
@pytest.mark.parametrize("magic", [0, 1])
def test_message_of_0_7_has_length_magic_checksum_and_payload(magic: int) -> None:
    golden = bytes.fromhex(GOLDEN[magic])
    with requirement("LEG-001"):
        written = entry_bytes(Message07(b"123456789", magic=magic))
        assert written == golden, f"magic {magic} is {written.hex()}, not {golden.hex()}"
        for payload in PAYLOADS:
            data = entry(payload, magic=magic)
            (found,) = read_message_set(data, limit_bytes=LIMIT_BYTES).entries
            read = (found.message.magic, found.message.payload)
            assert read == (magic, payload), f"{data.hex()} is read as {read}"
            again = entry_bytes(found.message)
            assert again == data, f"magic {magic} is {again.hex()}, not {data.hex()}"


@offline()
@judges("LEG-002")
@pytest.mark.parametrize("start", [0, 1000])
def test_message_id_of_0_7_is_byte_position(start: int) -> None:
    data = log_of(*PAYLOADS)
    with requirement("LEG-002"):
        position = start
        for found in read_message_set(data, start, limit_bytes=LIMIT_BYTES).entries:
            assert found.offset == position, f"id {found.offset} at byte {position}"
            (length,) = struct.unpack_from(">i", data, position - start)
            position += 4 + length
            assert found.next_offset == position, f"next id {found.next_offset}, not {position}"
        assert position == start + len(data), f"the last entry ends at {position}"


@offline()
@judges("LEG-003")
def test_fetch_and_multifetch_of_0_7_have_length_error_and_messages() -> None:
    first, second = log_of(b"one", b"two"), log_of(b"three")
    fetched = [struct.pack(">ih", 2 + len(part), 0) + part for part in (first, second)]
    bad = struct.pack(">ih", 2, 1)
    several = b"".join([*fetched, bad])
    wrapped = struct.pack(">ih", 2 + len(several), 0) + several
    answers = [FetchResponse(0, first), FetchResponse(0, second), FetchResponse(1, b"")]
    with requirement("LEG-003"):
        for answer, expected in zip(answers, [*fetched, bad], strict=True):
            made = encode_fetch_response(answer)
            assert made == expected, f"a fetch result is {made.hex()}, not {expected.hex()}"
            assert decode_fetch_response(expected) == answer, f"{expected.hex()} is read otherwise"
        whole = MultiFetchResponse(0, answers)
        made = encode_multi_fetch_response(whole)
        assert made == wrapped, f"a multifetch result is {made.hex()}, not {wrapped.hex()}"
        read = decode_multi_fetch_response(wrapped)
        assert read == whole, f"a multifetch result is read as {read}"


@offline()
@judges("LEG-004")
def test_nested_compressed_message_sets_of_0_7_are_decoded() -> None:
    first, second, third = entry(b"first"), entry(b"second", magic=1), entry(b"third")
    sets = {
        "gzip": gzipped(first + second + third),
        "snappy": snapped(first + second + third),
        "snappy inside of gzip": gzipped(first + snapped(second + third)),
        "gzip inside of gzip beside plain": gzipped(gzipped(first) + second) + third,
    }
    expected = [b"first", b"second", b"third"]
    with requirement("LEG-004"):
        for told, data in sets.items():
            entries = read_message_set(data, limit_bytes=LIMIT_BYTES).entries
            found = [one.message.payload for one in entries]
            assert found == expected, f"{told}: {len(found)} messages, {found[:3]}"


def _enriched(tags: str, *, offset: int = 9, key: bytes | None = None) -> bytes:
    """Size, offset, checksum, magic 1, attributes, time, tags with their length, key, value "v"."""
    listed = bytes.fromhex(tags)
    body = struct.pack(">bbi", 1, 0, 7)
    body += struct.pack(">i", len(listed) if listed else -1) + listed
    body += struct.pack(">i", -1) if key is None else struct.pack(">i", len(key)) + key
    body += struct.pack(">i", 1) + b"v"
    return struct.pack(">iqI", 4 + len(body), offset, zlib.crc32(body)) + body


@offline()
@judges("LEG-012")
def test_enriched_message_decodes_known_tags_and_skips_unknown_tags() -> None:
    lists: dict[str, dict[int, int]] = {
        "": {},
        NUM_MESSAGES: {32: 3},
        f"{TIME} {NUM_MESSAGES}": {0: 1024, 32: 3},
        UNKNOWN_TAG: {},
        f"{NUM_MESSAGES} {UNKNOWN_TAG}": {32: 3},
    }
    with requirement("LEG-012"):
        for listed, expected in lists.items():
            data = _enriched(listed, key=b"k")
            message, stop = decode_enriched(data + b"more")
            told = f"tags {listed or 'none'}"
            assert stop == len(data), f"{told}: the message ends at {stop}, not {len(data)}"
            assert message.tags == expected, f"{told}: read as {message.tags}"
            found = (message.offset, message.key, message.value)
            assert found == (9, b"k", b"v"), f"{told}: offset, key and value are {found}"


@offline()
@judges("LEG-012")
def test_inner_offsets_of_enriched_messages_are_relative_and_may_have_gaps() -> None:
    inner = [decode_enriched(_enriched("", offset=offset))[0] for offset in (0, 1, 4)]
    with requirement("LEG-012"):
        found = [one.offset for one in absolute_offsets(100, inner)]
        assert found == [100, 101, 104], f"relative offsets 0, 1, 4 at 100 are {found}"
        found = [one.offset for one in absolute_offsets(100, inner, are_honored=False)]
        assert found == [100, 101, 102], f"three messages behind a mirror at 100 are {found}"
