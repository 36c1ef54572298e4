"""Checkpoint files, and the notes beside them."""

from collections.abc import Callable
from uuid import UUID

import pytest

from harness.codec import DecodeError
from harness.codec.data_framing import (
    CheckpointedOffset,
    CleanShutdown,
    EpochStart,
    MetaProperties,
    PartitionMetadata,
    clean_shutdown_bytes,
    leader_epoch_checkpoint_bytes,
    meta_properties_bytes,
    offset_checkpoint_bytes,
    partition_metadata_bytes,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
)
from labs.data_vectors import log_folder_vectors as vectors

Read = Callable[[bytes], object]


def test_offset_checkpoint_round_trips() -> None:
    wanted = [
        CheckpointedOffset("written", 0, 615),
        CheckpointedOffset("__transaction_state", 0, 12),
    ]
    assert read_offset_checkpoint(vectors.CHECKPOINT) == wanted
    assert offset_checkpoint_bytes(wanted) == vectors.CHECKPOINT
    assert read_offset_checkpoint(b"") == read_offset_checkpoint(b"0\n0\n") == []
    assert read_offset_checkpoint(b"0\n") == []
    assert offset_checkpoint_bytes([]) == b"0\n0\n"


def test_leader_epoch_checkpoint_round_trips() -> None:
    wanted = [EpochStart(0, 0), EpochStart(3, 260)]
    assert read_leader_epoch_checkpoint(vectors.LEADER_EPOCHS) == wanted
    assert leader_epoch_checkpoint_bytes(wanted) == vectors.LEADER_EPOCHS


@pytest.mark.parametrize(
    ("data", "line", "offset", "problem"),
    [
        (b"1\n0\n", 1, 0, "version 1; 0 is known"),
        (b"x\n0\n", 1, 0, "a number expected, not 'x'"),
        (b"0\nmany\n", 2, 2, "a number expected, not 'many'"),
        (b"0\n2\na 0 1\n", 2, 2, "2 entries promised, 1 there"),
        (b"1\n", 1, 0, "version 1"),
        (b"0\n0\na 0 1\n", 2, 2, "0 entries promised, 1 there"),
        (b"0\n1\na 0\n", 3, 4, "3 words expected, 2 there"),
        (b"0\n2\na 0 1\nb 0 z\n", 4, 10, "a number expected, not 'z'"),
        (b"0\n1\na 2147483648 1\n", 3, 4, "out of range"),
        (b"0\n1\na 0 9223372036854775808\n", 3, 4, "out of range"),
        (b"0\n1\na 0 1_0\n", 3, 4, "a number expected"),
        (b"0\n1\n\xff 0 1\n", 3, 4, "no UTF-8"),
    ],
)
def test_malformed_checkpoint_raises_decode_error_with_line_and_offset(
    data: bytes, line: int, offset: int, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_offset_checkpoint(data)
    assert (caught.value.path, caught.value.offset) == (f"line {line}", offset)
    assert problem in caught.value.problem


def test_partition_metadata_round_trips() -> None:
    wanted = PartitionMetadata(0, UUID("1436e9e6-eeff-40f5-87a4-d43840989121"))
    assert read_partition_metadata(vectors.PARTITION_METADATA) == wanted
    assert partition_metadata_bytes(wanted) == vectors.PARTITION_METADATA
    later = vectors.PARTITION_METADATA.replace(b"version: 0", b"version: 1")
    assert read_partition_metadata(later) == wanted._replace(version=1)


def test_meta_properties_round_trip() -> None:
    found = read_meta_properties(vectors.META_4_4)
    assert found.version == 1
    assert found.values["directory.id"] == "HKMtt6uMASuvuqEhHz589w"
    assert found.comments == ["", "Wed Nov 25 02:36:38 UTC 2026"]
    for raw in (vectors.META_2_8, vectors.META_4_4):
        assert meta_properties_bytes(read_meta_properties(raw)) == raw


def test_meta_properties_escapes_special_characters_as_java() -> None:
    properties = MetaProperties({"version": "0", "odd": r"a:b=c\d"})
    raw = meta_properties_bytes(properties)
    assert rb"odd=a\:b\=c\\d" in raw
    assert read_meta_properties(raw) == properties
    assert read_meta_properties(b"version : 0\r\n! told\r\n").values == {"version": "0"}


def test_clean_shutdown_file_round_trips() -> None:
    assert read_clean_shutdown(b"") == CleanShutdown()
    assert read_clean_shutdown(vectors.CLEAN_SHUTDOWN) == CleanShutdown(11)
    assert clean_shutdown_bytes(CleanShutdown(11)) == vectors.CLEAN_SHUTDOWN
    assert clean_shutdown_bytes(CleanShutdown()) == b""


@pytest.mark.parametrize(
    ("read", "data", "path", "problem"),
    [
        (read_partition_metadata, b"", "", "'version: N'"),
        (read_partition_metadata, b"version: 1\ntopic_id: AAAA", "topic_id", "not a UUID: 'AAAA'"),
        (read_partition_metadata, b"version: -1\ntopic_id: AAAA", "", "'version: N'"),
        (read_partition_metadata, b"version: 0\ntopic_id: AAAA", "topic_id", "not a UUID: 'AAAA'"),
        (read_partition_metadata, b"version: 0\ntopic_id: \xc3\xa9", "topic_id", "not a UUID"),
        (read_partition_metadata, b"\xff", "", "no UTF-8"),
        (read_meta_properties, b"", "version", "version ''; 0 and 1 are known"),
        (read_meta_properties, b"version=2\n", "version", "version '2'; 0 and 1 are known"),
        (read_meta_properties, b"version=0\nalone\n", "line 2", "'name=value' expected"),
        (read_clean_shutdown, b"{", "", "not JSON"),
        (read_clean_shutdown, b"[]", "version", "version None; 0 is known"),
        (read_clean_shutdown, b'{"version":0}', "brokerEpoch", "a number expected, not None"),
    ],
)
def test_malformed_metadata_file_raises_decode_error(
    read: Read, data: bytes, path: str, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(data)
    assert caught.value.path == path
    assert problem in caught.value.problem
