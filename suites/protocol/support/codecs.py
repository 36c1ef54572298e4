"""Compression codecs by release: an old broker cannot know a newer codec."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.records.compression import CODEC_IDS

FIRST_PRODUCE_OF_ZSTD, FIRST_FETCH_OF_ZSTD = 7, 10  # KIP-110


def codecs_of(
    broker: BrokerUnderTest, produce_version: int, *, with_none: bool = True
) -> list[str]:
    """Return the names of the codecs that this version of Produce may contain.

    lz4 came with 0.8.2 (KAFKA-1456), as did FindCoordinator, by which the function recognizes it.
    """
    missing = set() if with_none else {"none"}
    if produce_version < FIRST_PRODUCE_OF_ZSTD:
        missing.add("zstd")
    if not broker.advertised("FindCoordinator"):
        missing.add("lz4")
    return [name for name in CODEC_IDS if name not in missing]
