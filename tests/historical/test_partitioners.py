"""Partitioners against another implementation, and at the edges of 32 bits."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import murmur2 as their_murmur2  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.partitioners import (
    java_string_hash,
    murmur2,
    partition_by_hash_code,
    partition_by_murmur2,
)
from labs.message_values.values import QUICK


@pytest.mark.rotates(8)
@QUICK
@given(st.binary(max_size=40))
def test_murmur2_equals_murmur2_of_aiokafka(data: bytes) -> None:
    assert murmur2(data) % 2**32 == their_murmur2(data) % 2**32
    assert -(2**31) <= murmur2(data) < 2**31


@QUICK
@given(st.text(max_size=20), st.integers(1, 100))
def test_partition_of_key_is_in_range(key: str, partitions: int) -> None:
    for found in (
        partition_by_hash_code(key, partitions),
        partition_by_murmur2(key.encode(), partitions),
    ):
        assert 0 <= found < partitions


def test_java_string_hash_counts_supplementary_character_as_two_units() -> None:
    assert java_string_hash("\U0001f600") == 31 * 0xD83D + 0xDE00


def test_partitioner_without_valid_partition_raises_value_error() -> None:
    with pytest.raises(ValueError, match="partition 0 of 0"):
        partition_by_murmur2(b"key", 0)
    with pytest.raises(ValueError, match="partition 3 of 3"):
        partition_by_hash_code(None, 3, any_partition=3)
