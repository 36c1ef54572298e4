"""Recovery keeps whole good entries from the start and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.log_format import LogFormat
from harness.historical.log_recovery import kept_bytes, recovered
from labs.message_values.values import QUICK
from tests.historical.old_logs import entries_of

FORMATS = pytest.mark.parametrize("log_format", list(LogFormat), ids=lambda one: one.value)
PAYLOADS = st.lists(st.binary(max_size=30), max_size=6)


@FORMATS
@QUICK
@given(payloads=PAYLOADS, data=st.data())
def test_recovery_keeps_whole_entries_before_truncation(
    log_format: LogFormat, payloads: list[bytes], data: st.DataObject
) -> None:
    entries = entries_of(payloads, log_format)
    log = b"".join(entries)
    size = data.draw(st.integers(0, len(log)))
    kept = recovered(log[:size], log_format)
    ends = [len(b"".join(entries[:count])) for count in range(len(entries) + 1)]
    assert kept == log[: max(end for end in ends if end <= size)]


@FORMATS
@QUICK
@given(payloads=PAYLOADS, nonsense=st.binary(max_size=60))
def test_repeated_recovery_changes_nothing(
    log_format: LogFormat, payloads: list[bytes], nonsense: bytes
) -> None:
    log = b"".join(entries_of(payloads, log_format))
    kept = recovered(log + nonsense, log_format)
    assert kept.startswith(log), "what was good before the nonsense stays"
    assert recovered(kept, log_format) == kept


@FORMATS
@QUICK
@given(nonsense=st.binary(max_size=80))
def test_recovery_of_random_bytes_keeps_at_most_their_size(
    log_format: LogFormat, nonsense: bytes
) -> None:
    assert 0 <= kept_bytes(nonsense, log_format) <= len(nonsense)
