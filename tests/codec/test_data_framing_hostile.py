"""Whatever the bytes are, the readers of framed data answer with a value or a typed error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec.errors import CodecError, DecodeError, UnsupportedVersionError
from labs.fuzz.targets.framing_readers import CONTROL_VALUE, READERS, SEEDS
from labs.message_values.values import QUICK, outcome


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", READERS)
@QUICK
@given(data=st.data())
def test_reader_of_damaged_bytes_returns_value_or_typed_error(
    name: str, data: st.DataObject
) -> None:
    raw = bytearray(data.draw(st.sampled_from(SEEDS) | st.binary(max_size=40)))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=5))
    found = outcome(lambda: READERS[name](bytes(raw)), CodecError)
    if isinstance(found, CodecError):
        assert isinstance(found, DecodeError | UnsupportedVersionError)
    if isinstance(found, DecodeError):
        # a key that is good leads to the value, which then is what is wrong
        assert 0 <= found.offset <= max(len(raw), len(CONTROL_VALUE))
