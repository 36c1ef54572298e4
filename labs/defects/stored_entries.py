"""Edits of a Fetch answer, entry by entry: batches of magic 2 and messages of older formats."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace

import google_crc32c

from harness.codec.messages import FetchResponse
from harness.codec.records import LegacyMessage, encode_message, split_message_set
from harness.codec.records.message_set import open_wrapper, packed
from harness.codec.structs import Message as Answer
from suites.protocol.support.log_entries import MAGIC_AT, whole_entries

TIME_AT = 18  # in magic 1
CRC_AT, COVERED_FROM = {True: 17, False: 12}, {True: 21, False: 16}  # by: is it a batch


def change_entries(message: Answer, change: Callable[[bytes], bytes]) -> None:
    """Replace each whole entry by ``change(entry)``; a cut rest stays."""
    assert isinstance(message, FetchResponse)
    for topic in message.responses:
        for one in topic.partitions:
            if one.records:
                entries, rest = whole_entries(bytes(one.records))
                one.records = b"".join([*(change(entry) for entry in entries), rest])


def is_batch(entry: bytes) -> bool:
    """True for a batch of magic 2, False for a message of an older format."""
    return entry[MAGIC_AT] == 2


def put(entry: bytes, form: str, at: int, value: int) -> bytes:
    """Set another value in a field that the checksum covers, and correct the checksum."""
    made = bytearray(entry)
    struct.pack_into(form, made, at, value)
    return with_checksum(bytes(made))


def without_time(entry: bytes) -> bytes:
    """Return a message of magic 1 without its timestamp; others as they are."""
    return put(entry, ">q", TIME_AT, -1) if entry[MAGIC_AT] == 1 else entry


def with_checksum(entry: bytes) -> bytes:
    """The entry with the right checksum of its content."""
    batch = is_batch(entry)
    covered = entry[COVERED_FROM[batch] :]
    checksum = google_crc32c.value(covered) if batch else zlib.crc32(covered)
    at = CRC_AT[batch]
    return entry[:at] + struct.pack(">I", checksum) + entry[at + 4 :]


def change_inside(
    entry: bytes, magic: int, change: Callable[[int, LegacyMessage], LegacyMessage]
) -> bytes:
    """Edit the messages inside of a compressed one of this magic; ``change`` gets the position."""
    if entry[MAGIC_AT] != magic:
        return entry
    (wrapper,) = split_message_set(entry)
    if not wrapper.codec_id:
        return entry
    inner = [
        replace(change(position, one), crc=None, length=None)
        for position, one in enumerate(open_wrapper(wrapper))
    ]
    value = packed(inner, wrapper.codec_id)
    return encode_message(replace(wrapper, value=value, crc=None, length=None))
