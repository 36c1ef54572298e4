"""Reading bytes holds no more memory than the bytes allow."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress

from harness.codec import CodecError

FIXED_BYTES = 256 * 1024  # errors with their tracebacks, and what is made once
PER_INPUT_BYTE = 400  # two decoders; an empty struct of 3 bytes becomes an object


def sampled(data: bytes, one_in: int) -> bool:
    """True if a slow check is made for this input: always or never, so that a failure stays."""
    return zlib.crc32(data) % one_in == 0


def check_memory(call: Callable[[], object], input_bytes: int, allowed_bytes: int = 0) -> None:
    """Raise AssertionError if ``call`` holds more than its input and ``allowed_bytes`` explain."""
    limit = FIXED_BYTES + PER_INPUT_BYTE * input_bytes + allowed_bytes
    peak = peak_bytes(call)
    assert peak <= limit, f"{peak} bytes held for an input of {input_bytes}, {limit} allowed"


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the most memory held at once while ``call`` ran; it may raise CodecError."""
    tracemalloc.start(1)
    try:
        with suppress(CodecError):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
