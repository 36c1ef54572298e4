"""Generated encoders: straight-line Python per (message, version).

A generated encoder is ``write(out: bytearray, message)``. It raises anything at all on a value
that does not fit; the caller then asks the interpreter which field it is.
"""

from __future__ import annotations

import uuid

from harness.codec.generate_default import differs_from_default
from harness.codec.layout import STRING_LIMIT_BYTES, Layout, Slot
from harness.codec.source import Malformed, Source, fixed_format, fixed_runs, layouts_of
from harness.codec.structs import Message, Struct, default_of
from harness.codec.varint import encode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_BYTES = (bytes, bytearray, memoryview)


def generate_encoder(cls: type[Message], version: int) -> Callable[[bytearray, Message], None]:
    """The encoder of one message at one version."""
    source = Source()
    source.names.update(uvarint=encode_uvarint, BYTES=_BYTES, LISTS=(list, tuple), UUID=uuid.UUID)
    source.names.update(NO_TAGS={})
    source.names.update(write_tags=_write_tags, require_unknown=_require_unknown)
    for owner, own in layouts_of(cls, version):
        _EncoderOf(source, owner, own).write()
    return source.compile(f"write_{cls.__name__}", f"encoder of {cls.__name__} v{version}")


class _EncoderOf:
    """Writes the function that encodes one struct."""

    def __init__(self, source: Source, owner: type[Struct], own: Layout) -> None:
        self.source, self.owner, self.own = source, owner, own

    def write(self) -> None:
        name, add = self.owner.__name__, self.source.add
        self.source.names[name] = self.owner
        add(0, f"def write_{name}(o, m):")
        add(1, f"if type(m) is not {name}: raise Malformed")
        for field in self.own.absent:
            if not field.ignorable:
                add(1, f"if {self.differs(field.name)}: raise Malformed")
        for form, slots in fixed_runs(self.own.plain):
            if form:
                self.fixed_run(form, slots)
            else:
                self.varying(1, slots[0], f"m.{slots[0].field.name}", "o")
        if self.own.flexible:
            self.tagged_section()
        else:
            add(1, "if m._tags: raise Malformed")

    def differs(self, name: str) -> str:
        return differs_from_default(self.source, default_of(self.owner, name), f"m.{name}")

    def fixed_run(self, form: str, slots: list[Slot]) -> None:
        values = []
        for slot in slots:
            value = f"m.{slot.field.name}"
            self.require_type(1, slot.field.kind, value)
            values.append(value + ".bytes" if slot.field.kind == "uuid" else value)
        self.source.add(1, f"o += {self.source.packer(form, 'pack')}({', '.join(values)})")

    def require_type(self, indent: int, kind: str, value: str) -> None:
        """What packing alone would not see: any object has a truth value."""
        wanted = {"uuid": "UUID", "bool": "bool"}.get(kind)
        if wanted:
            self.source.add(indent, f"if type({value}) is not {wanted}: raise Malformed")

    def varying(self, indent: int, slot: Slot, value: str, out: str, tagged: bool = False) -> None:
        """Statements that write one field of varying width to ``out``."""
        add = self.source.add
        add(indent, f"v = {value}", "if v is None:")
        add(indent + 1, f"{out} += {_null(slot, tagged)!r}" if slot.nullable else "raise Malformed")
        add(indent, "else:")
        inner, kind = indent + 1, slot.field.kind
        if kind == "struct":
            assert slot.field.struct is not None
            if slot.nullable:
                add(inner, f"{out} += b'\\1'")
            add(inner, f"write_{slot.field.struct.name}({out}, v)")
        elif kind == "array":
            self.array(inner, slot, out)
        else:
            self.run_of_bytes(inner, kind, slot.compact, out)

    def run_of_bytes(self, indent: int, kind: str, compact: bool, out: str) -> None:
        """Write ``v``, a string or bytes, with its length."""
        if kind == "string":
            self.source.add(indent, "v = v.encode()")
            self.source.add(indent, f"if len(v) > {STRING_LIMIT_BYTES}: raise Malformed")
        else:
            self.source.add(indent, "if not isinstance(v, BYTES): raise Malformed")
        self.length(indent, kind, compact, out)
        self.source.add(indent, f"{out} += v")

    def length(self, indent: int, kind: str, compact: bool, out: str) -> None:
        if compact:
            self.source.add(indent, "n = len(v) + 1")
            self.source.add(indent, f"if n < 128: {out}.append(n)", f"else: {out} += uvarint(n)")
        else:
            form = "h" if kind == "string" else "i"
            self.source.add(indent, f"{out} += {self.source.packer(form, 'pack')}(len(v))")

    def array(self, indent: int, slot: Slot, out: str) -> None:
        add, element = self.source.add, slot.field.element
        add(indent, "if not isinstance(v, LISTS): raise Malformed")
        self.length(indent, "array", slot.compact, out)
        add(indent, "for v in v:")
        form = fixed_format(element)
        self.require_type(indent + 1, element, "v")
        if element == "struct":
            assert slot.field.struct is not None
            add(indent + 1, f"write_{slot.field.struct.name}({out}, v)")
        elif element == "uuid":
            add(indent + 1, f"{out} += v.bytes")
        elif form:
            add(indent + 1, f"{out} += {self.source.packer(form, 'pack')}(v)")
        else:
            self.run_of_bytes(indent + 1, element, slot.compact, out)

    def tagged_section(self) -> None:
        add = self.source.add
        known = frozenset(field.tag for field in self.own.struct.fields if field.tag >= 0)
        add(1, "u = m._tags or NO_TAGS")
        add(1, f"if u: require_unknown(u, {self.source.constant('known', known)})")
        if self.own.tagged:
            add(1, "found = {**u}")
        for tag, slot in self.own.tagged.items():
            add(1, f"if {self.differs(slot.field.name)}:", "    t = bytearray()")
            self.tagged_value(slot, f"m.{slot.field.name}")
            add(2, f"found[{tag}] = t")
        found = "found" if self.own.tagged else "u"
        add(1, f"if {found}: write_tags(o, {found})", "else: o.append(0)")

    def tagged_value(self, slot: Slot, value: str) -> None:
        form = fixed_format(slot.field.kind)
        if not form:
            self.varying(2, slot, value, "t", tagged=True)
            return
        self.require_type(2, slot.field.kind, value)
        if slot.field.kind == "uuid":
            self.source.add(2, f"t += {value}.bytes")
        else:
            self.source.add(2, f"t += {self.source.packer(form, 'pack')}({value})")


def _require_unknown(tags: dict[int, bytes], known: frozenset[int]) -> None:
    for tag, raw in tags.items():
        if type(tag) is not int or tag in known or not isinstance(raw, _BYTES):
            raise Malformed


def _write_tags(out: bytearray, tags: dict[int, bytes]) -> None:
    out += encode_uvarint(len(tags))
    for tag in sorted(tags):
        raw = tags[tag]
        out += encode_uvarint(tag) + encode_uvarint(len(raw))
        out += raw


def _null(slot: Slot, tagged: bool) -> bytes:
    if slot.field.kind == "struct":
        return b"\0" if tagged else b"\xff"
    if slot.compact:
        return b"\0"
    return b"\xff\xff" if slot.field.kind == "string" else b"\xff\xff\xff\xff"
