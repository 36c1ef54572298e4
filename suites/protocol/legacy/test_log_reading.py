"""LEG: reading old logs, whole after a crash and piece by piece from an offset."""

from __future__ import annotations

import pytest

from harness.codec.records.message_set import LegacyMessage, encode_message
from harness.conformance.checks import requirement
from harness.historical.growing_fetch import MessageTooLarge, growing_fetch
from harness.historical.log_format import LogFormat
from harness.historical.log_recovery import kept_bytes, recovered
from harness.runner.marks import judges, offline
from suites.protocol.support.bytes_0_7 import entry

PAYLOADS = [b"first", b"", b"the third one is longer than the others" * 3]
FORMATS = list(LogFormat)


def _entries(log_format: LogFormat) -> list[bytes]:
    if log_format is LogFormat.V0_7:
        return [entry(payload, magic=at % 2) for at, payload in enumerate(PAYLOADS)]
    return [
        encode_message(LegacyMessage(payload, offset=at, magic=at % 2))
        for at, payload in enumerate(PAYLOADS)
    ]


@offline()
@judges("LEG-005")
@pytest.mark.parametrize("log_format", FORMATS, ids=lambda one: one.value)
def test_log_recovery_truncates_after_last_valid_entry(log_format: LogFormat) -> None:
    entries = _entries(log_format)
    log = b"".join(entries)
    ends = [len(b"".join(entries[:count])) for count in range(len(entries) + 1)]
    with requirement("LEG-005"):
        for size in range(len(log) + 1):
            whole = max(end for end in ends if end <= size)
            kept = kept_bytes(log[:size], log_format)
            assert kept == whole, f"of {size} bytes {kept} are kept, not {whole}"
        for nonsense in (bytes(100), b"\xff" * 100, b"\0\0\0\x20" * 25):
            kept = kept_bytes(log + nonsense, log_format)
            assert kept == len(log), f"with a block of nonsense {kept} bytes of {len(log)} are kept"


@offline()
@judges("LEG-005")
@pytest.mark.parametrize("log_format", FORMATS, ids=lambda one: one.value)
def test_log_recovery_truncates_entry_with_wrong_checksum(log_format: LogFormat) -> None:
    entries = _entries(log_format)
    log = b"".join(entries)
    last_start = len(log) - len(entries[-1])
    payload_start = len(log) - len(PAYLOADS[-1])
    with requirement("LEG-005") as check:
        for at in range(payload_start, len(log)):
            damaged = log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]
            found = recovered(damaged, log_format)
            told = f"byte {at} of an entry at {last_start} is wrong, {len(found)} bytes are kept"
            assert found == log[:last_start], told
        for place, whole in enumerate(entries):
            with check.subtest(f"entry {place}"):
                begin = len(b"".join(entries[:place]))
                at = begin + len(whole) - 1
                damaged = log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]
                found = recovered(damaged, log_format)
                told = f"entry {place} of {len(entries)} is damaged, {len(found)} bytes are kept"
                assert found == log[:begin], f"{told}, not {begin}"


@offline()
@judges("LEG-006")
@pytest.mark.parametrize("log_format", FORMATS, ids=lambda one: one.value)
def test_fetch_buffer_doubles_until_message_fits(log_format: LogFormat) -> None:
    entries = _entries(log_format)
    log = b"".join(entries)
    with requirement("LEG-006"):
        for first_size in range(1, len(log) + 2):
            found = growing_fetch(
                lambda size: log[:size], log_format, first_size=first_size, max_size=1 << 20
            )
            told = f"beginning with {first_size} bytes"
            count = len(found.entries)
            assert count > 0, f"{told}: no message"
            assert found.entries == entries[:count], f"{told}: another message than was written"
            doubled = [first_size << step for step in range(len(found.sizes))]
            assert found.sizes == doubled, f"{told}: asked for {found.sizes}"
            left = min(found.sizes[-1], len(log)) - sum(map(len, found.entries))
            assert found.partial_bytes == left, f"{told}: {found.partial_bytes} partial bytes"


@offline()
@judges("LEG-006")
@pytest.mark.parametrize("log_format", FORMATS, ids=lambda one: one.value)
def test_message_larger_than_maximum_fetch_buffer_is_refused(log_format: LogFormat) -> None:
    large = _entries(log_format)[-1]
    limit = len(large) - 1
    with requirement("LEG-006"):
        try:
            found = growing_fetch(
                lambda size: large[:size], log_format, first_size=1, max_size=limit
            )
        except MessageTooLarge:
            return
        raise AssertionError(f"of {len(large)} bytes {limit} were read: {found.entries!r}")
