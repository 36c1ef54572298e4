"""The form that messages are loaded from says the same as the definitions that people read."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec import DefinitionError
from harness.codec.compact_form import compact_line, read_line
from harness.codec.definition import parse_definition
from harness.codec.specs import FieldSpec, MessageSpec, StructSpec
from harness.codec.stubs import definitions
from labs.message_values.all_kinds import TEXT
from tests.codec.each_layout import each_of

SPECS = {**definitions(), "AllKinds": parse_definition(TEXT, "AllKinds.json")}


@each_of({key: key for key in SPECS})
def test_compact_line_round_trips_whole_definition(key: str) -> None:
    line = compact_line(key, SPECS[key])
    assert "\n" not in line
    assert plain_message(read_line(line)) == plain_message(SPECS[key])


def plain_message(spec: MessageSpec) -> dict[str, Any]:
    """Everything in a spec as plain values; a struct inside a field by its name."""
    attributes = {name: getattr(spec, name) for name in MessageSpec.__slots__}
    structs = {name: plain_struct(struct) for name, struct in spec.structs.items()}
    return {**attributes, "layouts": None, "root": plain_struct(spec.root), "structs": structs}


def plain_struct(spec: StructSpec) -> tuple[Any, ...]:
    return spec.name, spec.versions, [plain_field(field) for field in spec.fields]


def plain_field(spec: FieldSpec) -> dict[str, Any]:
    attributes = {name: getattr(spec, name) for name in FieldSpec.__slots__}
    return {**attributes, "struct": spec.struct and spec.struct.name}


def test_read_line_shares_structs_as_in_definition() -> None:
    spec = read_line(compact_line("AllKinds", SPECS["AllKinds"]))
    shared = [field.struct for field in spec.root.fields if field.struct is not None]
    assert all(spec.structs[struct.name] is struct for struct in shared)


@pytest.mark.parametrize("default", ["a b", "a,b", "a|b", "a\nb", "null"])
def test_compact_line_refuses_unrepresentable_default(default: str) -> None:
    spec = parse_definition(TEXT, "AllKinds.json")
    word = next(field for field in spec.root.fields if field.name == "old_word")
    word.default = default
    with pytest.raises(DefinitionError, match=r"old_word: default .* does not fit"):
        compact_line("AllKinds", spec)


def test_compact_line_of_older_layout_keeps_message_name() -> None:
    line = compact_line("FetchRequest@2.7", SPECS["FetchRequest"])
    assert line.startswith("FetchRequest@2.7 request 1 ")
    assert read_line(line).name == "FetchRequest"
