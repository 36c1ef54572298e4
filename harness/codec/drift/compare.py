"""Two definitions of one message, version by version and field by field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product, zip_longest
from typing import NamedTuple

from harness.codec.definition import FieldSpec, StructSpec
from harness.codec.drift.definition import Definition
from harness.codec.layout import Layout, Slot, layout

_DEEPEST = 20  # a struct may contain itself; no released message nests deeper than seven


@dataclass(frozen=True, order=True)
class DriftDifference:
    """``what`` differs at ``place`` (names of ours with dots, "" for the message itself)."""

    message: str
    place: str
    what: str
    ours: str
    theirs: str
    versions: tuple[int, ...]  # of the message, in which it is so

    def __str__(self) -> str:
        versions = f" v{in_words(self.versions)}" if self.versions else ""
        place = f" {self.place}" if self.place else ""
        return (
            f"{self.message}{versions}{place}: {self.what}: ours {self.ours}, theirs {self.theirs}"
        )


def in_words(versions: Iterable[int]) -> str:
    """``0-2,5``"""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and runs[-1][1] == version - 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def differences(ours: Definition, theirs: Definition) -> list[DriftDifference]:
    """Return the differences in the versions that both have; ``versions.py`` compares versions."""
    return _Comparison(ours, theirs).differences()


class _Pair(NamedTuple):
    """A field of ours and the one that it is in theirs, each with its struct."""

    ours: StructSpec
    mine: FieldSpec
    theirs: StructSpec
    yours: FieldSpec


class _Comparison:
    def __init__(self, ours: Definition, theirs: Definition) -> None:
        self.ours, self.theirs = ours, theirs
        self.found: dict[tuple[str, str, str, str], set[int]] = {}
        self.pairs: dict[str, dict[tuple[int, int], _Pair]] = {}  # by the place of their struct
        self.visited: dict[str, set[int]] = {}  # place of a struct -> versions compared

    def differences(self) -> list[DriftDifference]:
        ours, theirs = self.ours.spec, self.theirs.spec
        for version in theirs.valid:
            if version in ours.valid:
                self.message(version)
                self.structs(version, "", ours.root, theirs.root)
        self.whole_fields()
        return [
            DriftDifference(ours.name, *key, tuple(sorted(versions)))
            for key, versions in sorted(self.found.items())
        ]

    def note(self, version: int, place: str, what: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            key = (place, what, str(ours), str(theirs))
            self.found.setdefault(key, set()).add(version)

    def message(self, version: int) -> None:
        ours, theirs = self.ours.spec, self.theirs.spec
        self.note(version, "", "message", ours.name, theirs.name)
        self.note(version, "", "type", ours.type, theirs.type)
        self.note(version, "", "api key", ours.api_key, theirs.api_key)
        listeners = (self.ours.listeners, self.theirs.listeners)
        if None not in listeners:
            self.note(version, "", "listeners", *(" ".join(one or ["none"]) for one in listeners))

    def structs(self, version: int, place: str, one: StructSpec, other: StructSpec) -> None:
        versions = self.visited.setdefault(place, set())
        if version in versions or place.count(".") > _DEEPEST:
            return
        versions.add(version)
        mine = layout(self.ours.spec, one, version)
        yours = layout(self.theirs.spec, other, version)
        self.note(version, place, "flexible", mine.flexible, yours.flexible)
        for own, peer in [*self.in_order(place, mine, yours), *self.by_tag(place, mine, yours)]:
            pairs = self.pairs.setdefault(place, {})
            pairs[id(own.field), id(peer.field)] = _Pair(one, own.field, other, peer.field)
            self.fields(version, _join(place, own.field.name), own, peer)

    def in_order(self, place: str, mine: Layout, yours: Layout) -> list[tuple[Slot, Slot]]:
        """Plain fields that belong together: the same name, or the same type at the same place."""
        one = {slot.field.name: slot for slot in mine.plain}
        other = {slot.field.name: slot for slot in yours.plain}
        kept, theirs_kept = [n for n in one if n in other], [n for n in other if n in one]
        self.note(mine.version, place, "order", ", ".join(kept), ", ".join(theirs_kept))
        pairs = [(one[name], other[name]) for name in kept]
        matcher = SequenceMatcher(None, list(one), list(other), autojunk=False)
        for _, low, high, from_, to in matcher.get_opcodes():
            own = [slot for slot in mine.plain[low:high] if slot.field.name not in other]
            peers = [slot for slot in yours.plain[from_:to] if slot.field.name not in one]
            pairs += self.renamed(mine.version, place, own, peers)
        return pairs

    def renamed(
        self, version: int, place: str, own: list[Slot], peers: list[Slot]
    ) -> list[tuple[Slot, Slot]]:
        """Fields between the same neighbours: pairs where the types agree, else ours or theirs."""
        pairs = []
        for mine, yours in zip_longest(own, peers):
            if mine and yours and _type(mine.field) == _type(yours.field):
                pairs.append((mine, yours))
                continue
            for slot, ours, theirs in ((mine, "there", "absent"), (yours, "absent", "there")):
                if slot:
                    self.note(version, _join(place, slot.field.name), "field", ours, theirs)
        return pairs

    def by_tag(self, place: str, mine: Layout, yours: Layout) -> list[tuple[Slot, Slot]]:
        """Tagged fields that belong together: the same tag."""
        for tag in sorted(mine.tagged.keys() ^ yours.tagged.keys()):
            slot = mine.tagged.get(tag) or yours.tagged[tag]
            here, there = (f"tag {tag}" if tag in own.tagged else "absent" for own in (mine, yours))
            self.note(mine.version, _join(place, slot.field.name), "field", here, there)
        both = [tag for tag in mine.tagged if tag in yours.tagged]
        return [(mine.tagged[tag], yours.tagged[tag]) for tag in both]

    def fields(self, version: int, place: str, own: Slot, peer: Slot) -> None:
        mine, yours = own.field, peer.field
        for what, a, b in (
            ("name", mine.name, yours.name),
            ("type", _type(mine), _type(yours)),
            ("nullable", own.nullable, peer.nullable),
            ("compact", own.compact, peer.compact),
        ):
            self.note(version, place, what, a, b)
        if mine.struct and yours.struct:
            self.note(version, place, "struct", mine.struct.name, yours.struct.name)
            self.structs(version, place, mine.struct, yours.struct)

    def whole_fields(self) -> None:
        """Compare each field in every version, also those without it: callers may still set it."""
        for place, pairs in self.pairs.items():
            for pair, version in product(pairs.values(), self.visited[place]):
                self.whole_field(version, _join(place, pair.mine.name), pair)

    def whole_field(self, version: int, place: str, pair: _Pair) -> None:
        mine, yours = pair.mine, pair.yours
        marks = self.ours.marks[pair.ours.name, mine.name]
        peers = self.theirs.marks[pair.theirs.name, yours.name]
        self.note(version, place, "default", _default(mine), _default(yours))
        self.note(version, place, "ignorable", mine.ignorable, yours.ignorable)
        self.note(version, place, "map key", marks.map_key, peers.map_key)
        self.note(version, place, "entity type", marks.entity_type, peers.entity_type)
        self.note(version, place, "zero copy", marks.zero_copy, peers.zero_copy)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _type(field: FieldSpec) -> str:
    return f"[]{field.element}" if field.kind == "array" else field.kind


def _default(field: FieldSpec) -> str:
    if field.default is None:
        return "null"
    return "empty" if field.default in ([], ...) else repr(field.default)
