"""A whole log read piece by piece, with buffers that are often too small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.growing_fetch import MessageTooLarge, growing_fetch
from harness.historical.log_format import LogFormat
from labs.message_values.values import QUICK
from tests.historical.old_logs import entries_of

FORMATS = pytest.mark.parametrize("log_format", list(LogFormat), ids=lambda one: one.value)


@FORMATS
@QUICK
@given(payloads=st.lists(st.binary(max_size=60), max_size=6), first_size=st.integers(1, 200))
def test_growing_fetch_returns_every_entry_once(
    log_format: LogFormat, payloads: list[bytes], first_size: int
) -> None:
    entries = entries_of(payloads, log_format)
    log = b"".join(entries)
    found: list[bytes] = []
    at = 0
    while at < len(log):
        rest = log[at:]
        fetched = growing_fetch(
            lambda size, rest=rest: rest[:size],  # type: ignore[misc]
            log_format,
            first_size=first_size,
            max_size=1024,
        )
        assert fetched.entries, "each read brings a message"
        found += fetched.entries
        at += sum(map(len, fetched.entries))
    assert found == entries


@FORMATS
def test_growing_fetch_at_end_of_log_returns_no_entry(log_format: LogFormat) -> None:
    (entry,) = entries_of([b"payload"], log_format)
    fetched = growing_fetch(lambda size: b""[:size], log_format, first_size=10, max_size=20)
    assert fetched == ([], 0, [10])
    cut = entry[:-1]
    fetched = growing_fetch(lambda size: cut[:size], log_format, first_size=1, max_size=1 << 20)
    assert fetched.entries == []
    assert fetched.partial_bytes == len(cut), "all that there is was read: more would not help"


@FORMATS
def test_growing_fetch_refuses_impossible_length_and_too_large_message(
    log_format: LogFormat,
) -> None:
    with pytest.raises(ValueError, match="impossible length"):
        growing_fetch(lambda size: b"\xff" * size, log_format, first_size=16, max_size=16)
    with pytest.raises(ValueError, match="first 9 bytes, 8 at most"):
        growing_fetch(bytes, log_format, first_size=9, max_size=8)
    (entry,) = entries_of([b"payload"], log_format)
    exact = growing_fetch(lambda size: entry[:size], log_format, first_size=1, max_size=len(entry))
    assert (exact.entries, exact.sizes[-1]) == ([entry], len(entry)), "the limit itself is tried"
    with pytest.raises(MessageTooLarge):
        growing_fetch(lambda size: entry[:size], log_format, first_size=1, max_size=len(entry) - 1)
