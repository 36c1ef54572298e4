"""Requests and responses as releases spoke them that had other bytes under the same version.

``older_layouts.tsv``: bytes that the classes in the client library of that release wrote, and the
values that they were given.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.codec import CodecError, decode, encode
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.messages import message_class, message_names, older_releases

Row = tuple[str, str, int, bytes, str]


def _rows() -> list[Row]:
    lines = Path(__file__).with_name("older_layouts.tsv").read_text("utf-8").splitlines()[1:]
    words = [line.split("\t") for line in lines]
    return [(at, name, int(version), bytes.fromhex(raw), v) for at, name, version, raw, v in words]


COLUMNS = ("release", "name", "version", "raw", "value")
ROWS = _rows()
NEW_TAGS_ONLY = ("ApiVersionsResponse", "FetchResponse", "UpdateMetadataRequest")
each_row = pytest.mark.parametrize(COLUMNS, ROWS, ids=[f"{row[1]}@{row[0]}" for row in ROWS])


@each_row
def test_older_layout_round_trips_bytes_of_its_release(
    release: str, name: str, version: int, raw: bytes, value: str
) -> None:
    cls = message_class(name, release)
    read = decode(cls, version, raw)
    assert to_dict(read, version) == json.loads(value)
    assert encode(from_dict(cls, version, json.loads(value)), version) == raw


@each_row
def test_newest_layout_differs_from_older_layout(
    release: str, name: str, version: int, raw: bytes, value: str
) -> None:
    """It cannot read the bytes, or finds other fields; what has new tags only writes the same."""
    assert message_class(name, release) is not message_class(name)
    try:
        read = decode(message_class(name), version, raw)
    except CodecError:
        assert name not in NEW_TAGS_ONLY
        return
    if name in NEW_TAGS_ONLY:
        assert encode(read, version) == raw
    else:
        assert to_dict(read, version) != json.loads(value)


def test_every_older_layout_of_rpc_has_row() -> None:
    rows = {(name, message_class(name, release)) for release, name, *_ in _rows()}
    layouts = {
        (name, message_class(name, release))
        for name in message_names()
        if name.endswith(("Request", "Response"))
        for release in older_releases(name)
    }
    assert rows == layouts
    assert len(layouts) == 11
