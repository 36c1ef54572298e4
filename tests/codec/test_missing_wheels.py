"""Without its wheel a codec says what to install; the others go on working."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

WHEELS = ("cramjam", "lz4", "lz4.frame", "lz4.block", "snappy", "zstandard")
PROGRAM = """
import json, sys
for name in sys.argv[1:]:
    sys.modules[name] = None  # an import of it then fails
from harness.codec import decode, encode
from harness.codec.messages import MetadataRequest
from harness.codec.records import CompressionError, Record, RecordBatch, encode_batch
from harness.codec.records.compression import compress, decompress

def outcome(call, *arguments):
    try:
        call(*arguments)
    except CompressionError as error:
        return str(error)
    return "works"

assert decode(MetadataRequest, 12, encode(MetadataRequest(), 12)) == MetadataRequest()
batch = RecordBatch([Record(b"value")])
print(json.dumps({
    codec: [
        outcome(compress, number, b"plain"),
        outcome(decompress, number, bytes.fromhex(packed), 99),
        outcome(encode_batch, batch, codec),
    ]
    for number, codec, packed in (
        (0, "none", "61"),
        (1, "gzip", "1f8b0800000000000003030000000000000000 00"),
        (2, "snappy", "0100 61"),
        (3, "lz4", "04224d186040820100008061 00000000"),
        (4, "zstd", "28b52ffd2001090000 61"),
    )
}))
"""


@cache
def _outcomes() -> dict[str, list[str]]:
    """Of compressing, decompressing and writing a batch, by codec, in a process without wheels."""
    command = [sys.executable, "-c", PROGRAM, *WHEELS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("codec", ["snappy", "lz4", "zstd"])
def test_error_of_missing_wheel_names_package_to_install(codec: str) -> None:
    for said in _outcomes()[codec]:
        assert codec in said
        assert "pip install" in said


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_codecs_without_wheel_work_where_all_wheels_are_missing(codec: str) -> None:
    assert _outcomes()[codec] == ["works"] * 3
