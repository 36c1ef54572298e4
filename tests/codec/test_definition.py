"""The grammar of message definitions, and what is said about a definition that breaks it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import DefinitionError
from harness.codec.definition import MessageSpec, parse_definition, snake_case
from harness.codec.stubs import COMPACT, STUB, TABLE, compact_text, stub_text, table_text
from harness.codec.versions import HIGHEST, NO_VERSIONS, VersionRange
from labs.message_values.all_kinds import ALL_KINDS, TEXT
from labs.message_values.values import QUICK, outcome

HEAD: dict[str, Any] = {"name": "M", "type": "data", "validVersions": "0-3", "fields": []}


def parse(**changes: Any) -> MessageSpec:
    raw = {**HEAD, **changes}
    kept = {name: value for name, value in raw.items() if value is not ...}
    return parse_definition(json.dumps(kept), "M.json")


def field(**changes: Any) -> dict[str, Any]:
    raw = {"name": "F", "type": "int32", "versions": "0+", **changes}
    return {name: value for name, value in raw.items() if value is not ...}


BAD_MESSAGES: list[tuple[dict[str, Any], str]] = [
    ({"name": ...}, "message: name is missing"),
    ({"name": 5}, "message: name must be str: 5"),
    ({"type": ...}, "message: type is missing"),
    ({"type": "question"}, "message.type: 'question' is none of request, response"),
    ({"type": "request"}, "message: apiKey is missing"),
    ({"type": "response", "apiKey": "1"}, "message: apiKey must be int: '1'"),
    ({"validVersions": ...}, "message: validVersions is missing"),
    ({"validVersions": 3}, "message: validVersions must be str: 3"),
    ({"validVersions": "3-1"}, "message.validVersions: not a version range: '3-1' runs backwards"),
    ({"flexibleVersions": "all"}, "message.flexibleVersions: not a version range: 'all'"),
    ({"flexibleVersions": 2}, "message.flexibleVersions: "),
    ({"latestVersionUnstable": "yes"}, "message: latestVersionUnstable must be bool: 'yes'"),
    ({"commonStructs": {}}, "message: commonStructs must be a list of objects"),
    ({"fields": {}}, "M: fields must be a list of objects"),
    ({"fields": ["F"]}, "M: fields must be a list of objects"),
    ({"validversions": "0"}, "message: unknown attribute 'validversions'"),
]


@pytest.mark.parametrize(("changes", "said"), BAD_MESSAGES)
def test_malformed_message_definition_raises_definition_error(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse(**changes)
    assert str(caught.value).startswith(f"M.json: {said}")


BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"name": ...}, "M.?: name is missing"),
    ({"name": "a b"}, "M.a b: 'a b' cannot be the name of an attribute"),
    ({"name": "From"}, "M.From: 'From' cannot be the name"),
    ({"name": "Spec"}, "M.Spec: 'Spec' cannot be the name"),
    ({"type": ...}, "M.F: type is missing"),
    ({"type": "int33"}, "M.F: type 'int33' is no scalar, has no fields and is no common struct"),
    ({"type": "[]Thing"}, "M.F: type 'Thing' is no scalar"),
    ({"type": "[][]int8"}, "M.F: type '[]int8' is no scalar"),
    ({"versions": "1-"}, "M.F.versions: not a version range: '1-'"),
    ({"nullable": True}, "M.F: unknown attribute 'nullable'"),
    ({"nullableVersions": "0+"}, "M.F: a field of type int32 cannot be nullable"),
    ({"tag": 0}, "M.F: tag and taggedVersions belong together"),
    ({"taggedVersions": "0+"}, "M.F: tag and taggedVersions belong together"),
    ({"tag": "zero", "taggedVersions": "0+"}, "M.F: tag must be int: 'zero'"),
    ({"tag": 1, "taggedVersions": "0+"}, "M: tags must be unique and count from 0, not [1]"),
    ({"ignorable": "true"}, "M.F: ignorable must be bool: 'true'"),
    ({"default": "null"}, 'M.F: default "null" on a field that is never nullable'),
    ({"default": "2147483648"}, "M.F.default: 2147483648 is outside int32"),
    ({"default": "one"}, "M.F.default: invalid literal"),
    ({"type": "bool", "default": "maybe"}, "M.F.default: 'maybe' is neither true nor false"),
    ({"type": "float64", "default": "x"}, "M.F.default: could not convert"),
    ({"type": "bytes", "default": "x"}, "M.F.default: a bytes can only be empty or null"),
    ({"type": "[]int8", "default": "1"}, "M.F.default: a array can only be empty or null"),
    ({"type": "S", "fields": {}}, "M.F.S: fields must be a list of objects"),
    ({"type": "S", "fields": [{}]}, "M.F.S.?: name is missing"),
]


@pytest.mark.parametrize(("changes", "said"), BAD_FIELDS)
def test_malformed_field_definition_raises_definition_error(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse(fields=[field(**changes)])
    assert str(caught.value).startswith(f"M.json: {said}")


def test_duplicate_field_or_struct_raises_definition_error() -> None:
    with pytest.raises(DefinitionError, match=r"M\.json: M: two fields have the same name"):
        parse(fields=[field(), field()])
    one, two = (field(name=n, type="S", fields=[field()]) for n in "AB")
    with pytest.raises(DefinitionError, match="struct 'S' is defined twice"):
        parse(fields=[one, two])


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "{} trailing", "// only a comment"])
def test_text_that_is_not_json_object_raises_definition_error(text: str) -> None:
    with pytest.raises(DefinitionError, match=r"^M\.json: (not JSON|an object expected)"):
        parse_definition(text, "M.json")


def test_field_defaults_are_parsed_to_typed_values() -> None:
    root = ALL_KINDS.message_spec.root
    defaults = {one.name: one.default for one in root.fields if one.default is not None}
    assert defaults["truth"] is True
    assert (defaults["big"], defaults["ratio"], defaults["old_word"]) == (-1, 1.5, "")
    assert parse(fields=[field(default="0x7f")]).root.fields[0].default == 127
    assert parse(fields=[field(default=-1)]).root.fields[0].default == -1


def test_definition_accepts_recursive_struct() -> None:
    inner = [field(name="Children", type="[]Node")]
    spec = parse(fields=[field(name="Top", type="Node", fields=inner)])
    node = spec.structs["Node"]
    assert node.fields[0].struct is node


_DELETED = object()


@settings(QUICK, max_examples=200)
@given(data=st.data())
def test_changed_definition_is_parsed_or_raises_definition_error(data: st.DataObject) -> None:
    """One attribute somewhere is deleted or replaced: never anything but a DefinitionError."""
    lines = [line for line in TEXT.splitlines() if not line.startswith("//")]
    raw = json.loads("\n".join(lines))
    place: Any = raw
    while isinstance(place, dict | list) and place:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(place[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    wrong = [_DELETED, None, 5, -1, True, "", "x", "0-1", "none", "int8", [], {}, [{}], ["a"]]
    new = data.draw(st.sampled_from(wrong))
    if new is _DELETED:
        del place[key]
    else:
        place[key] = new
    found = outcome(lambda: parse_definition(json.dumps(raw), "M.json"), DefinitionError)
    assert isinstance(found, MessageSpec) or str(found).startswith("M.json: ")


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("TopicId", "topic_id"),
        ("Isr", "isr"),
        ("TransactionalId", "transactional_id"),
        ("Enable2Pc", "enable2_pc"),
        ("ZkMigrationReady", "zk_migration_ready"),
        ("HMAC", "hmac"),
        ("ClientIDs", "client_i_ds"),
        ("topicName", "topic_name"),
        ("x", "x"),
    ],
)
def test_snake_case_converts_camel_case_names(name: str, snake: str) -> None:
    assert snake_case(name) == snake


@pytest.mark.parametrize(
    ("text", "low", "high"), [("3", 3, 3), ("1-4", 1, 4), ("2+", 2, HIGHEST), ("0", 0, 0)]
)
def test_version_range_parses_and_contains_its_versions(text: str, low: int, high: int) -> None:
    found = VersionRange.parse(text)
    assert (found.lowest, found.highest) == (low, high)
    assert str(found) == text
    assert low in found
    assert high in found
    assert low - 1 not in found
    assert high + 1 not in found
    assert "1" not in found
    assert list(found & VersionRange(0, 9)) == list(range(low, min(high, 9) + 1))


def test_empty_version_range_contains_no_version() -> None:
    assert VersionRange.parse("none") == NO_VERSIONS
    assert not NO_VERSIONS
    assert list(NO_VERSIONS) == []
    assert 0 not in NO_VERSIONS
    assert str(VersionRange(1, 2) & VersionRange(4, 5)) == "none"


@pytest.mark.parametrize("text", ["", "1-", "-1", "+", "1+2", "a", "4-1", "1 - 2", "1.0"])
def test_malformed_version_range_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a version range"):
        VersionRange.parse(text)


def test_generated_codec_files_are_current() -> None:
    assert COMPACT.read_text("utf-8") == compact_text(), "run python -m harness.codec.stubs"
    assert STUB.read_text("utf-8") == stub_text(), "run python -m harness.codec.stubs"
    assert TABLE.read_text("utf-8") == table_text(), "run python -m harness.codec.stubs"
    command = [sys.executable, "-m", "harness.codec.stubs", "--check"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
