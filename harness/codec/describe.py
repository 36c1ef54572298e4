"""The layout of a message in words: one version field by field, or all versions by what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.codec.field_text import default_text, has_plain_default, type_text
from harness.codec.layout import Slot, layout
from harness.codec.specs import FieldSpec, MessageSpec, StructSpec

_NAME_COLUMN, _TYPE_COLUMN = 44, 34


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A field at one version: its place in the message, and what is said of it."""

    path: str
    depth: int
    name: str
    type: str
    nullable: bool
    tag: int | None
    default: str  # "" where it is the plain one
    ignorable: bool

    @property
    def facts(self) -> tuple[object, ...]:
        """Properties of the field; a change of one of them changes bytes or values."""
        return self.type, self.nullable, self.tag, self.default


def rows(spec: MessageSpec, version: int) -> list[LayoutRow]:
    """The fields that ``version`` carries, in the order of the wire, structs opened once."""
    return list(_rows(spec, spec.root, version, "", (spec.root.name,)))


def _rows(
    spec: MessageSpec, own: StructSpec, version: int, path: str, inside: tuple[str, ...]
) -> Iterator[LayoutRow]:
    at = layout(spec, own, version)
    for slot in (*at.plain, *at.tagged.values()):
        field = slot.field
        tag = field.tag if field.tag in at.tagged and at.tagged[field.tag] is slot else None
        where = f"{path}{field.name}"
        yield _row(slot, where, len(inside) - 1, tag)
        if field.struct is not None and field.struct.name not in inside:
            deeper = (*inside, field.struct.name)
            yield from _rows(spec, field.struct, version, f"{where}.", deeper)


def _row(slot: Slot, path: str, depth: int, tag: int | None) -> LayoutRow:
    field = slot.field
    return LayoutRow(
        path=path,
        depth=depth,
        name=field.name,
        type=type_text(field),
        nullable=slot.nullable,
        tag=tag,
        default="" if has_plain_default(field) else default_text(field),
        ignorable=field.ignorable,
    )


def layout_lines(spec: MessageSpec, version: int) -> Iterator[str]:
    """One version: a line a field, then the fields that only other versions carry."""
    flexible = version in spec.flexible
    yield from (_field_line(row) for row in rows(spec, version))
    if flexible:
        yield "every struct ends in its tagged fields; lengths are unsigned varints, plus 1"
    for path, field in absent_fields(spec, version):
        fate = "left out" if field.ignorable else "an error"
        yield f"not at this version: {path} (versions {field.versions}), {fate} when set"


def _field_line(row: LayoutRow) -> str:
    notes = [f"tag {row.tag}"] if row.tag is not None else []
    notes += ["nullable"] if row.nullable else []
    notes += [f"default {row.default}"] if row.default else []
    notes += ["ignorable"] if row.ignorable else []
    name = "  " * row.depth + row.name
    return f"{name:<{_NAME_COLUMN}} {row.type:<{_TYPE_COLUMN}} {', '.join(notes)}".rstrip()


def absent_fields(spec: MessageSpec, version: int) -> Iterator[tuple[str, FieldSpec]]:
    """(path, field) of what this version cannot carry, in the structs that it has."""
    seen = {"": spec.root}
    for row in rows(spec, version):
        found = spec.structs.get(row.type.removeprefix("[]"))
        if found is not None and found not in seen.values():
            seen[f"{row.path}."] = found
    for path, own in seen.items():
        for field in layout(spec, own, version).absent:
            yield f"{path}{field.name}", field


def changes(spec: MessageSpec, version: int) -> list[str]:
    """Return the changes since the version before ``version``; empty when the bytes are equal."""
    before = {row.path: row for row in rows(spec, version - 1)}
    after = {row.path: row for row in rows(spec, version)}
    flexible = [version - 1 in spec.flexible, version in spec.flexible]
    found = ["flexible"] if flexible == [False, True] else []
    found += [f"+ {_named(row)}" for path, row in after.items() if _is_top(path, before)]
    found += [f"- {path}" for path in before if _is_top(path, after)]
    for path, row in after.items():
        if path in before and before[path].facts != row.facts:
            found += [f"{path}: {one}" for one in _differences(before[path], row)]
    return found


def _is_top(path: str, other: dict[str, LayoutRow]) -> bool:
    """Not in the other version, but what it lies in is."""
    parent = path.rpartition(".")[0]
    return path not in other and (not parent or parent in other)


def _named(row: LayoutRow) -> str:
    return f"{row.path} {row.type}" + (f" (tag {row.tag})" if row.tag is not None else "")


def _differences(before: LayoutRow, after: LayoutRow) -> Iterator[str]:
    if before.type != after.type:
        yield f"{after.type} instead of {before.type}"
    if before.nullable != after.nullable:
        yield "may be null" if after.nullable else "must not be null"
    if before.tag != after.tag:
        yield f"tag {after.tag}" if after.tag is not None else "no tag any more"
    if before.default != after.default:
        yield f"default {after.default or 'plain'}"
