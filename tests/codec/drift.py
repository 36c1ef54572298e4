"""Compares two definitions of a message, version by version and field by field."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.definition import FieldSpec, MessageSpec, StructSpec
from harness.codec.layout import Layout, Slot, layout


def differences(ours: MessageSpec, theirs: MessageSpec) -> list[str]:
    """What differs in the versions that ``theirs`` has; one line each, empty when nothing does.

    Ours may hold older versions as well, and fields that only those had.
    """
    found = [
        f"{ours.name}: {what} is {one}, not {other}"
        for what, one, other in (
            ("name", ours.name, theirs.name),
            ("type", ours.type, theirs.type),
            ("api key", ours.api_key, theirs.api_key),
            ("highest version", ours.valid.highest, theirs.valid.highest),
            ("latestVersionUnstable", ours.unstable_highest, theirs.unstable_highest),
        )
        if one != other
    ]
    for version in theirs.valid:
        if version not in ours.valid:
            found.append(f"{ours.name}: version {version} is missing")
            continue
        problems = _structs(ours, theirs, ours.root, theirs.root, version)
        found += [f"{ours.name} v{version}: {problem}" for problem in problems]
    return found


def _structs(
    ours: MessageSpec, theirs: MessageSpec, one: StructSpec, other: StructSpec, version: int
) -> Iterator[str]:
    mine, yours = layout(ours, one, version), layout(theirs, other, version)
    if mine.flexible != yours.flexible:
        yield f"{one.name}: flexible is {mine.flexible}, not {yours.flexible}"
    if _order(mine) != _order(yours):
        yield f"{one.name}: fields {_order(mine)}, not {_order(yours)}"
        return
    for own, peer in zip(_slots(mine), _slots(yours), strict=True):
        yield from _fields(f"{one.name}.{own.field.name}", own, peer)
        if own.field.struct and peer.field.struct:
            yield from _structs(ours, theirs, own.field.struct, peer.field.struct, version)
    yield from _absent(mine, yours)


def _slots(own: Layout) -> list[Slot]:
    return [*own.plain, *own.tagged.values()]


def _order(own: Layout) -> list[tuple[int, str]]:
    tagged = [(tag, slot.field.name) for tag, slot in own.tagged.items()]
    return [(-1, slot.field.name) for slot in own.plain] + tagged


def _fields(place: str, own: Slot, peer: Slot) -> Iterator[str]:
    one, other = own.field, peer.field
    for what, mine, yours in (
        ("kind", _kind(one), _kind(other)),
        ("nullable", own.nullable, peer.nullable),
        ("compact", own.compact, peer.compact),
        ("default", one.default, other.default),
        ("ignorable", one.ignorable, other.ignorable),
    ):
        if mine != yours:
            yield f"{place}: {what} is {mine!r}, not {yours!r}"


def _kind(field: FieldSpec) -> tuple[str, str, str]:
    return field.kind, field.element, field.struct.name if field.struct else ""


def _absent(mine: Layout, yours: Layout) -> Iterator[str]:
    """Fields that this version lacks: their defaults and whether they may be dropped matter."""
    ours = {field.name: field for field in mine.absent}
    for other in yours.absent:
        one = ours.get(other.name)
        if one is None:
            yield f"{mine.struct.name}.{other.name}: is not known (other versions have it)"
        elif (one.ignorable, one.default) != (other.ignorable, other.default):
            yield f"{mine.struct.name}.{other.name}: absent, and ignorable or default differ"
