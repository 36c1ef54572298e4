"""Addresses in records of the metadata log: registrations of brokers and controllers, voters.

The batch gets its length and checksum anew; base offset, leader epoch and all other records stay.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache, lru_cache

import google_crc32c

from harness.codec.data_framing import CLUSTER_METADATA, CONTROL_TYPES
from harness.codec.messages import message_class
from harness.codec.records import BATCH_HEADER_BYTES, CONTROL, LOG_OVERHEAD_BYTES, RecordsError
from harness.codec.records.batch import CRC_START, BatchHeader, split_batches
from harness.codec.structs import Message
from harness.codec.varint import decode_uvarint, decode_varint, decode_varlong
from harness.proxies.addresses.generate_walk import way_through
from harness.proxies.addresses.marks import (
    AddressMark,
    CountedLength,
    Edit,
    Length,
    Replacements,
    edits_of,
    spliced,
)
from harness.proxies.addresses.places import places
from harness.proxies.addresses.walk import Unreadable, walk

RELEASE_OF_FRAME = {0: "2.8", 1: None}  # frame version 0: only the preview wrote it
VOTERS = "VotersRecord"
_LENGTH = struct.Struct(">i")
_TYPE = struct.Struct(">hh")


def with_other_addresses(data: bytes, asked: Replacements) -> bytes | None:
    """The batches with other addresses; None when there is nothing to change.

    A batch that is cut, damaged or compressed stays as it is, and is counted.
    """
    try:
        batches = split_batches(data)
    except RecordsError:
        asked.count("unreadable_batch")
        return None
    edits = [edit for header, start in batches for edit in _batch_edits(data, header, start, asked)]
    return spliced(data, edits) if edits else None


def _batch_edits(data: bytes, header: BatchHeader, start: int, asked: Replacements) -> list[Edit]:
    if header.magic != 2 or header.codec_id:
        asked.count("unreadable_batch" if header.magic != 2 else "compressed_batch")
        return []
    stop = start + header.size_bytes
    try:
        marks = list(_marks_in(data, start + BATCH_HEADER_BYTES, stop, header, asked))
    except (IndexError, ValueError, struct.error):
        asked.count("unreadable_batch")
        return []
    if not marks:
        return []
    if google_crc32c.value(data[start + CRC_START : stop]) != header.crc:
        asked.count("unreadable_batch")  # the reader shall see the damage
        return []
    edits = edits_of(marks, data, asked)
    if not edits:
        return []
    body = spliced(data, edits, start + CRC_START, stop)
    length = _LENGTH.pack(len(body) + CRC_START - LOG_OVERHEAD_BYTES)
    between = data[start + LOG_OVERHEAD_BYTES : start + CRC_START - _LENGTH.size]
    crc = google_crc32c.value(body).to_bytes(4, "big")
    length_at = start + LOG_OVERHEAD_BYTES - _LENGTH.size
    return [Edit(length_at, stop, length + between + crc + body)]


def _marks_in(
    data: bytes, start: int, stop: int, header: BatchHeader, asked: Replacements
) -> Iterator[AddressMark]:
    """Records with an address in them. Raises IndexError or ValueError on bad bytes."""
    at = start
    while at < stop:
        length_at = at
        length, at = decode_varint(data, at)
        record_stop = at + length
        if length < 0 or record_stop > stop:
            raise ValueError(f"a record of {length} bytes")
        value = _value(data, at, record_stop, bool(header.attributes & CONTROL), asked)
        if value is not None:
            yield CountedLength(length_at, at, record_stop, Length.VARINT, [value])
        at = record_stop


def _value(
    data: bytes, at: int, stop: int, is_control: bool, asked: Replacements
) -> AddressMark | None:
    """Return a mark on the value of the record, attributes at ``at``; None: no address in it."""
    _, at = decode_varlong(data, at + 1)  # timestamp
    _, at = decode_varint(data, at)  # offset
    length, at = decode_varint(data, at)
    key_at = at
    at += max(length, 0)
    length_at = at
    length, at = decode_varint(data, at)
    if length < 0:
        return None
    if at + length > stop:
        raise ValueError(f"a value of {length} bytes")
    if is_control:
        marks = _in_control_record(data, key_at, at, at + length, asked)
    else:
        marks = _in_metadata_record(data, at, at + length, asked)
    return CountedLength(length_at, at, at + length, Length.VARINT, marks) if marks else None


def _in_control_record(
    data: bytes, key_at: int, at: int, stop: int, asked: Replacements
) -> list[AddressMark]:
    _, type_ = _TYPE.unpack_from(data, key_at)
    if CONTROL_TYPES.get(type_, ("", ""))[1] != VOTERS:
        return []
    cls = message_class(VOTERS)
    version = int.from_bytes(data[at : at + 2], "big")  # the first field
    return _in_message(cls, version, data, at, stop, asked)


def _in_metadata_record(data: bytes, at: int, stop: int, asked: Replacements) -> list[AddressMark]:
    frame, at = decode_uvarint(data, at)
    api_key, at = decode_uvarint(data, at)
    version, at = decode_uvarint(data, at)
    return _in_message(_record_class(frame, api_key), version, data, at, stop, asked)


def _in_message(
    cls: type[Message] | None, version: int, data: bytes, at: int, stop: int, asked: Replacements
) -> list[AddressMark]:
    """Return the marks in a record; none if it is unknown or damaged, which is counted."""
    if cls is None or version not in cls.message_spec.valid:
        asked.count("unknown_record")
        return []
    if not _holds_addresses(cls, version):
        return []
    try:
        return walk(way_through(cls, version), data, at, stop)
    except Unreadable:
        asked.count("unreadable_record")
        return []


@lru_cache(maxsize=128)
def _record_class(frame: int, api_key: int) -> type[Message] | None:
    name = CLUSTER_METADATA.records.get(api_key)
    if name is None or frame not in RELEASE_OF_FRAME:
        return None
    return message_class(name, RELEASE_OF_FRAME[frame])


@cache
def _holds_addresses(cls: type[Message], version: int) -> bool:
    return bool(places(cls, version))
