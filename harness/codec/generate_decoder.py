"""Generated decoders: straight-line Python per (message, version).

A generated decoder is ``decode(data, offset, end) -> (message, next offset)``. It raises anything
at all on bad bytes; the caller then asks the interpreter what is wrong.
"""

from __future__ import annotations

import struct
import uuid

from harness.codec.generate_default import fresh_default
from harness.codec.layout import STRING_LIMIT_BYTES, Layout, Slot, minimum_bytes
from harness.codec.source import Source, fixed_format, fixed_runs, layouts_of
from harness.codec.specs import FieldSpec
from harness.codec.structs import Message, Struct, bare, default_of, slot_of
from harness.codec.varint import decode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def generate_decoder(
    cls: type[Message], version: int, tolerant: bool = False
) -> Callable[[bytes, int, int], Any]:
    """The decoder of one message at one version; ``tolerant``: see ``decode_prefix``."""
    source = Source()
    source.names.update(uvarint=decode_uvarint, UUID=uuid.UUID)
    for owner, own in layouts_of(cls, version):
        _DecoderOf(source, cls, owner, own, tolerant).write()
    return source.compile(f"read_{cls.__name__}", f"decoder of {cls.__name__} v{version}")


class _DecoderOf:
    """Writes the function that decodes one struct."""

    def __init__(
        self,
        source: Source,
        cls: type[Message],
        owner: type[Struct],
        own: Layout,
        tolerant: bool,
    ) -> None:
        self.source, self.cls, self.owner, self.own = source, cls, owner, own
        self.tolerant = tolerant

    def write(self) -> None:
        name, source = self.owner.__name__, self.source
        source.names[name] = self.owner
        source.names[f"new_{name}"] = bare(self.owner)
        source.add(0, f"def read_{name}(b, p, e):")
        source.add(1, f"m = new_{name}()", "m._tags = None")
        for field in self.own.absent:
            self.set_default(field)
        for form, slots in fixed_runs(self.own.plain):
            if form:
                self.fixed_run(form, slots)
            else:
                self.varying(1, slots[0], f"m.{slots[0].field.name}")
        if self.own.flexible:
            self.tagged_section()
        source.add(1, "return m, p")

    def set_default(self, field: FieldSpec) -> None:
        lazy = field.default is ...
        made = "..." if lazy else fresh_default(self.source, default_of(self.owner, field.name))
        self.source.add(1, f"m.{slot_of(field)} = {made}")

    def fixed_run(self, form: str, slots: list[Slot]) -> None:
        unpack = self.source.packer(form, "unpack_from")
        targets = ", ".join(f"m.{slot.field.name}" for slot in slots)
        self.source.add(1, f"{targets}, = {unpack}(b, p)")
        self.source.add(1, f"p += {struct.calcsize('>' + form)}")
        for slot in slots:
            if slot.field.kind == "uuid":
                self.source.add(1, f"m.{slot.field.name} = UUID(bytes=m.{slot.field.name})")

    def varying(self, indent: int, slot: Slot, target: str, tagged: bool = False) -> None:
        """Statements that read one field of varying width into ``target``."""
        kind = slot.field.kind
        if kind == "struct":
            self.nested(indent, slot, target, tagged)
            return
        self.length(indent, "string" if kind == "string" else "bytes", slot.compact)
        self.source.add(indent, "if n < 0:")
        if slot.nullable:
            if not self.tolerant:
                self.source.add(indent + 1, "if n != -1: raise Malformed")
            self.source.add(indent + 1, f"{target} = None")
        else:
            self.source.add(indent + 1, "raise Malformed")
        self.source.add(indent, "else:")
        if kind == "array":
            self.array(indent + 1, slot, target)
        else:
            self.run_of_bytes(indent + 1, kind, target)

    def length(self, indent: int, kind: str, compact: bool) -> None:
        """Statements that read a length or count into ``n``; negative means null."""
        if compact:
            self.source.add(indent, "n = b[p]", "if n < 128: p += 1")
            self.source.add(indent, "else: n, p = uvarint(b, p)", "n -= 1")
            return
        form, width = ("h", 2) if kind == "string" else ("i", 4)
        self.source.add(
            indent, f"n, = {self.source.packer(form, 'unpack_from')}(b, p)", f"p += {width}"
        )

    def run_of_bytes(self, indent: int, kind: str, target: str) -> None:
        self.source.add(indent, "q = p + n", "if q > e: raise Malformed")
        if kind == "string":
            self.source.add(indent, f"if n > {STRING_LIMIT_BYTES}: raise Malformed")
            mode = "'utf-8', 'replace'" if self.tolerant else ""
            self.source.add(indent, f"{target} = b[p:q].decode({mode})", "p = q")
        else:
            self.source.add(indent, f"{target} = b[p:q]", "p = q")

    def array(self, indent: int, slot: Slot, target: str) -> None:
        add, element = self.source.add, slot.field.element
        smallest = minimum_bytes(self.cls.message_spec, slot, self.own.version)
        add(indent, f"if n * {smallest} > e - p: raise Malformed")
        form = fixed_format(element)
        if form and element != "uuid":
            self.source.names["unpack_many"] = struct.unpack_from
            add(
                indent,
                f"{target} = list(unpack_many(f'>{{n}}{form}', b, p))",
                f"p += n * {smallest}",
            )
            return
        add(indent, "items = []", f"{target} = items", "for _ in range(n):")
        if element == "struct":
            assert slot.field.struct is not None
            add(
                indent + 1,
                f"item, p = read_{slot.field.struct.name}(b, p, e)",
                "items.append(item)",
            )
        elif element == "uuid":
            add(indent + 1, "items.append(UUID(bytes=b[p:p + 16]))", "p += 16")
        else:
            self.length(indent + 1, element, slot.compact)
            add(indent + 1, "if n < 0: raise Malformed")
            self.run_of_bytes(indent + 1, element, "item")
            add(indent + 1, "items.append(item)")

    def nested(self, indent: int, slot: Slot, target: str, tagged: bool) -> None:
        assert slot.field.struct is not None
        read = f"{target}, p = read_{slot.field.struct.name}(b, p, e)"
        if not slot.nullable:
            self.source.add(indent, read)
            return
        if tagged:
            self.source.add(indent, "n, p = uvarint(b, p)", f"if n == 0: {target} = None")
        else:
            self.source.add(indent, "n = b[p]", "p += 1", f"if n > 127: {target} = None")
        self.source.add(indent, f"else: {read}")

    def tagged_section(self) -> None:
        add = self.source.add
        for slot in self.own.tagged.values():
            self.set_default(slot.field)
        add(1, "t = b[p]", "p += 1", "if t:")
        add(2, "if t > 127: t, p = uvarint(b, p - 1)", "last = -1", "for _ in range(t):")
        add(3, "tag, p = uvarint(b, p)", "size, p = uvarint(b, p)")
        if not self.tolerant:
            add(3, "if tag <= last: raise Malformed")
        add(3, "last = tag", "stop = p + size")
        if not self.tolerant:  # Kafka's readers do not look at the size of a tag that they know
            add(3, "if stop > e: raise Malformed")
        branch = "if"
        for tag, slot in self.own.tagged.items():
            add(3, f"{branch} tag == {tag}:")
            self.tagged_value(slot)
            add(4, "pass" if self.tolerant else "if p != stop: raise Malformed")
            branch = "elif"
        retired = [
            f.tag for f in self.own.struct.fields if f.tag >= 0 and f.tag not in self.own.tagged
        ]
        if retired:
            add(3, f"{branch} tag in {tuple(retired)}: raise Malformed")
            branch = "elif"
        keep = [
            "if stop > e: raise Malformed",
            "m.unknown_tagged_fields[tag] = b[p:stop]",
            "p = stop",
        ]
        if branch == "if":
            add(3, *keep)
        else:
            add(3, "else:")
            add(4, *keep)

    def tagged_value(self, slot: Slot) -> None:
        form = fixed_format(slot.field.kind)
        target = f"m.{slot.field.name}"
        if not form:
            self.varying(4, slot, target, tagged=True)
            return
        width = struct.calcsize(">" + form)
        if not self.tolerant:
            self.source.add(4, f"if size != {width}: raise Malformed")
        self.source.add(4, f"{target}, = {self.source.packer(form, 'unpack_from')}(b, p)")
        if slot.field.kind == "uuid":
            self.source.add(4, f"{target} = UUID(bytes={target})")
        self.source.add(4, f"p += {width}")
