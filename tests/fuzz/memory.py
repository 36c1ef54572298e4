"""Whether reading bytes holds no more memory than the bytes allow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress

from harness.codec import CodecError

FIXED_BYTES = 256 * 1024  # errors with their tracebacks, and what is made once
PER_INPUT_BYTE = 400  # two decoders; an empty struct of 3 bytes becomes an object


class Sampled:
    """Measures every so many calls: tracing each would be slow."""

    def __init__(self, every: int) -> None:
        self._every, self._calls = every, 0

    def check(self, call: Callable[[], object], input_bytes: int, allowed_bytes: int = 0) -> None:
        """AssertionError when ``call`` holds more than its input and ``allowed_bytes`` explain."""
        self._calls += 1
        if self._calls % self._every:
            return
        limit = FIXED_BYTES + PER_INPUT_BYTE * input_bytes + allowed_bytes
        peak = peak_bytes(call)
        assert peak <= limit, f"{peak} bytes held for an input of {input_bytes}, {limit} allowed"


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory that was held at once while ``call`` ran, CodecErrors aside."""
    tracemalloc.start(1)
    try:
        with suppress(CodecError):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
