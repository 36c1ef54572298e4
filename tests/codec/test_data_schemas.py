"""Every schema that is not an RPC: the table of where it comes from, and releases' own files."""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from harness.codec import DecodeError, decode, encode
from harness.codec.definition import MessageSpec, StructSpec, parse_definition
from harness.codec.layout import layout
from harness.codec.messages import message_class, message_names, older_releases
from harness.codec.structs import Message
from harness.targets.artifacts import fetch_release
from labs.message_values.values import rich
from tests.codec.each_layout import each_of

RPC_TYPES = ("request", "response", "header")
RELEASES = ("3.9.2", "4.0.2", "4.3.1", "4.4.0")
STREAMS = "kafka-streams"
ARTIFACTS = {
    "connect-runtime": 2,
    "kafka-clients": 13,
    "kafka-group-coordinator": 46,
    "kafka-metadata": 30,
    "kafka-raft": 1,
    "kafka-share-coordinator": 4,
    "kafka-storage": 5,
    STREAMS: 1,
    "kafka-transaction-coordinator": 2,
}
RETIRED = {
    "AccessControlRecord": "3.4.1",
    "QuotaRecord": "2.8.2",
    "RemoveFeatureLevelRecord": "3.2.3",
    "ShareGroupPartitionMetadataKey": "4.0.2",
    "ShareGroupPartitionMetadataValue": "4.0.2",
}

Row = dict[str, str]


def table() -> list[Row]:
    """A row a layout: the newest of a schema has no ``until``."""
    text = Path(__file__).with_name("data_schemas.tsv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


CURRENT = {row["schema"]: row for row in table() if row["until"] == "-"}
OLDER = {(row["schema"], row["until"]): row for row in table() if row["until"] != "-"}
older_layout = each_of({"@".join(key): key for key in OLDER})


def data_names() -> list[str]:
    return [n for n in message_names() if message_class(n).message_spec.type not in RPC_TYPES]


def test_every_schema_has_its_row() -> None:
    assert sorted(CURRENT) == data_names()
    assert len(CURRENT) == 104
    assert len([row for row in CURRENT.values() if row["source"] == "definition"]) == 100
    assert Counter(row["artifact"] for row in CURRENT.values()) == ARTIFACTS


def test_every_older_layout_has_its_row() -> None:
    found = {(name, until) for name in data_names() for until in older_releases(name)}
    assert set(OLDER) == found
    assert len(found) == 65


def test_table_rows_match_versions_of_definitions() -> None:
    for name, row in CURRENT.items():
        assert str(message_class(name).message_spec.valid) == row["versions"], name
    for (name, until), row in OLDER.items():
        assert str(message_class(name, until).message_spec.valid) == row["versions"], (name, until)
        assert row["why"] != "-"
        assert row["last_release"].startswith(f"{until}.")


def test_retired_schemas_match_table() -> None:
    newest = {STREAMS: "4.3.1", "connect-runtime": "4.3.1"}  # not a part of a broker
    retired = {
        name: row["last_release"]
        for name, row in CURRENT.items()
        if row["last_release"] != newest.get(row["artifact"], "4.4.0")
    }
    assert retired == RETIRED


def test_table_is_ordered_by_release() -> None:
    by_name: dict[str, list[Row]] = {}
    for row in table():
        by_name.setdefault(row["schema"], []).append(row)
    for name, rows in by_name.items():
        times = [
            _numbers(row[column]) for row in rows for column in ("first_release", "last_release")
        ]
        assert times == sorted(times), name
        assert len({row["first_release"] for row in rows}) == len(rows), name
        assert _numbers(rows[0]["spoken_since"]) <= times[0]


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@older_layout
def test_older_layout_differs_from_next_layout(key: tuple[str, str]) -> None:
    """A layout equal to the next one is a file without a use."""
    name, until = key
    releases = [*older_releases(name), None]
    following = releases[releases.index(until) + 1]
    old, new = (message_class(name, at).message_spec for at in (until, following))
    assert any(v not in new.valid or _shape(old, v) != _shape(new, v) for v in old.valid)


@older_layout
def test_older_layout_round_trips_and_refuses_truncation(key: tuple[str, str]) -> None:
    cls = message_class(*key)
    for version in cls.message_spec.valid:
        message = rich(cls, version)
        raw = encode(message, version)
        assert decode(cls, version, raw) == message
        for size in range(len(raw)):
            with pytest.raises(DecodeError):
                decode(cls, version, raw[:size])


def test_message_class_returns_layout_of_given_release() -> None:
    def leader_change(release: str | None) -> type[Message]:
        return message_class("LeaderChangeMessage", release)

    fields = {at: leader_change(at).spec.fields[0].name for at in ("2.7.2", "2.8.0", "3.0.0")}
    assert fields == {"2.7.2": "leader_id", "2.8.0": "leader_id", "3.0.0": "version"}
    assert leader_change("2.7.2") is not leader_change("2.8.0")
    assert leader_change("3.0.0") is leader_change("4.4.0") is leader_change(None)


def test_each_definition_begins_with_its_only_comment() -> None:
    for entry in (files("harness.codec") / "schemas" / "data").iterdir():
        text = entry.read_text("utf-8")
        first, _, rest = text.partition("\n")
        assert first.startswith("// "), entry.name
        assert first.endswith("."), entry.name
        assert "//" not in rest, entry.name
        assert '"about"' not in rest, entry.name


@pytest.mark.kafka
@pytest.mark.parametrize("release", RELEASES)
def test_definitions_of_released_kafka_have_same_layouts(release: str) -> None:
    """Every definition in the jars of a release, version by version, names included."""
    theirs = _definitions_of(release)
    wrong = {
        name
        for name, spec in theirs.items()
        for version in spec.valid
        if _shape(message_class(name, release).message_spec, version, names=True)
        != _shape(spec, version, names=True)
    }
    assert not wrong
    assert set(theirs) == {name for name in CURRENT if _released(name, release)}


def _released(name: str, release: str) -> bool:
    """True if the jars of a broker of that release have the definition, by the table."""
    rows = [row for row in table() if row["schema"] == name]
    first, last = rows[0]["first_release"], rows[-1]["last_release"]
    inside = _numbers(first) <= _numbers(release) <= _numbers(last)
    return inside and rows[-1]["source"] == "definition" and rows[-1]["artifact"] != STREAMS


def _definitions_of(release: str) -> dict[str, MessageSpec]:
    found = {}
    for jar in fetch_release(release):
        if not jar.name.startswith("kafka"):
            continue
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".json") and {"message", "metadata"} & set(name.split("/")):
                    spec = parse_definition(archive.read(name).decode(), name)
                    found[spec.name] = spec
    return {name: spec for name, spec in found.items() if spec.type not in RPC_TYPES}


def _shape(spec: MessageSpec, version: int, *, names: bool = False) -> Any:
    """The structure of the bytes of a version; with ``names`` also the names of the fields."""
    return _struct_shape(spec, spec.root, version, names)


def _struct_shape(spec: MessageSpec, struct: StructSpec, version: int, names: bool) -> Any:
    own = layout(spec, struct, version)
    plain = [(-1, None, slot) for slot in own.plain]
    tagged = [(tag, slot.field.default, slot) for tag, slot in own.tagged.items()]
    return own.flexible, [
        (
            tag,
            default if slot.field.kind not in ("array", "struct") else default is None,
            slot.field.kind,
            slot.field.element,
            slot.nullable,
            slot.compact,
            slot.field.name if names else "",
            slot.field.struct and _struct_shape(spec, slot.field.struct, version, names),
        )
        for tag, default, slot in (*plain, *tagged)
    ]
