"""Generator of the files that follow from the definitions.

Messages are loaded from ``schemas/compact.txt``; editors and type checkers read ``messages.pyi``;
``api_table.py`` lists the APIs without loading any. ``python -m harness.codec.stubs`` writes all
three; with ``--check`` it only reports whether they are current.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from harness.codec.compact_form import compact_line
from harness.codec.definition import FieldSpec, MessageSpec, StructSpec, parse_definition
from harness.codec.errors import DefinitionError

_SCHEMAS = Path(__file__).with_name("schemas")
_FOLDERS = (_SCHEMAS, _SCHEMAS / "data")  # requests, responses and headers; everything else
COMPACT = _SCHEMAS / "compact.txt"
STUB = Path(__file__).with_name("messages.pyi")
TABLE = Path(__file__).with_name("api_table.py")
_PYTHON_TYPES = {"bool": "bool", "float64": "float", "uuid": "UUID", "string": "str"}
_PREAMBLE = '''"""Generated from schemas/ by ``python -m harness.codec.stubs``; do not edit."""

from uuid import UUID

from harness.codec.structs import Message, Request, Struct

def message_names() -> tuple[str, ...]: ...
def older_releases(name: str) -> tuple[str, ...]: ...
def message_class(name: str, release: str | None = None) -> type[Message]: ...
'''


_TABLE_PREAMBLE = '''\
"""Generated from schemas/ by ``python -m harness.codec.stubs``; do not edit."""

# key, name, valid versions, flexible versions, unstable versions
API_TABLE: tuple[tuple[int, str, str, str, str], ...] = ('''


@cache
def definitions() -> dict[str, MessageSpec]:
    """``NAME`` or ``NAME@RELEASE`` -> what its JSON file says, sorted.

    Raises DefinitionError for a file that breaks the grammar or is not called as its message.
    """
    found: dict[str, MessageSpec] = {}
    for file in (file for folder in _FOLDERS for file in folder.glob("*.json")):
        spec = parse_definition(file.read_text("utf-8"), file.name)
        if file.stem.partition("@")[0] != spec.name or file.stem in found:
            raise DefinitionError(f"{file.name} defines {spec.name}, or there are two such files")
        found[file.stem] = spec
    return dict(sorted(found.items()))


def compact_text() -> str:
    """The whole compact form."""
    return "".join(f"{compact_line(key, spec)}\n" for key, spec in definitions().items())


def stub_text() -> str:
    """The whole stub file."""
    classes = [_message(spec) for key, spec in definitions().items() if "@" not in key]
    return "\n".join([_PREAMBLE, *classes])


def _message(spec: MessageSpec) -> str:
    answer = spec.name.removesuffix("Request") + "Response"
    base = f"Request[{answer}]" if spec.type == "request" else "Message"
    lines = [f"class {spec.name}({base}):"]
    for struct in _inner_first(spec.root.fields, {}).values():
        lines += [f"    class {struct.name}(Struct):", *_members(spec, struct, 2)]
    return "\n".join([*lines, *_members(spec, spec.root, 1)]) + "\n"


def _inner_first(fields: list[FieldSpec], found: dict[str, StructSpec]) -> dict[str, StructSpec]:
    """All nested structs by name, each after those that it is made of: mypy wants them so."""
    for field in fields:
        if field.struct is not None and field.struct.name not in found:
            _inner_first(field.struct.fields, found)
            found[field.struct.name] = field.struct
    return found


def _members(spec: MessageSpec, struct: StructSpec, depth: int) -> list[str]:
    pad = "    " * depth
    typed = {field.name: _type(spec, field) for field in struct.fields}
    lines = [f"{pad}{name}: {type_}" for name, type_ in typed.items()]
    lines += [f"{pad}def __init__(", f"{pad}    self,", f"{pad}    *,"]
    lines += [f"{pad}    {name}: {type_} = ...," for name, type_ in typed.items()]
    lines += [
        f"{pad}    unknown_tagged_fields: dict[int, bytes] | None = ...,",
        f"{pad}) -> None: ...",
    ]
    return lines


def _type(spec: MessageSpec, field: FieldSpec) -> str:
    if field.kind == "array":
        inner = f"{spec.name}.{field.struct.name}" if field.struct else _scalar(field.element)
        base = f"list[{inner}]"
    elif field.kind == "struct":
        assert field.struct is not None
        base = f"{spec.name}.{field.struct.name}"
    else:
        base = _scalar(field.kind)
    nullable = bool(field.nullable) or field.kind == "records"
    return f"{base} | None" if nullable else base


def _scalar(kind: str) -> str:
    return _PYTHON_TYPES.get(kind, "bytes" if kind in ("bytes", "records") else "int")


def table_text() -> str:
    """The whole table of APIs."""
    specs = [spec for key, spec in definitions().items() if "@" not in key]
    requests = sorted((s for s in specs if s.type == "request"), key=lambda spec: spec.api_key or 0)
    return "\n".join([_TABLE_PREAMBLE, *map(_row, requests), ")", ""])


def _row(spec: MessageSpec) -> str:
    unstable = str(spec.valid.highest) if spec.unstable_highest else "none"
    words = ", ".join(f'"{word}"' for word in (spec.valid, spec.flexible, unstable))
    return f'    ({spec.api_key}, "{spec.name.removesuffix("Request")}", {words}),'


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` exit 1 when one is stale."""
    stale = False
    for file, text in ((COMPACT, compact_text()), (STUB, stub_text()), (TABLE, table_text())):
        if arguments != ["--check"]:
            file.write_text(text, "utf-8")
            continue
        current = file.exists() and file.read_text("utf-8") == text
        stale |= not current
        verdict = "current" if current else "stale: run this without --check"
        sys.stdout.write(f"{file.name} is {verdict}\n")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
