"""Generated decoders: straight-line Python per (message, version).

A generated decoder is ``decode(data, offset, end) -> (message, next offset)``. It raises anything
at all on bad bytes; the caller then asks the interpreter what is wrong. Structs are read inline, in
loops in loops; only those that contain themselves are functions. What stands behind a position that
is beyond the end cannot be read, so a look at the very last position is enough.

The names in generated code: ``b`` the bytes, ``p`` and ``q`` positions, ``e`` the end, ``n``
lengths and counts (of compact ones: plus 1, as they stand there), ``t`` numbers of tagged fields.
"""

from __future__ import annotations

import struct

from harness.codec.generate_decoder_steps import DecoderSteps
from harness.codec.generate_default import fresh_default
from harness.codec.generated_runtime import Lazy
from harness.codec.layout import Layout, Slot, layout, minimum_bytes
from harness.codec.source import GeneratedSource, fixed_format, variable
from harness.codec.structs import bare, nested_class, slot_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness.codec.structs import Message, Struct

_decoders: dict[tuple[type[Struct], int, bool], Callable[[bytes, int, int], Any]] = {}


def generate_decoder(
    cls: type[Message], version: int, tolerant: bool = False
) -> Callable[[bytes, int, int], Any]:
    """The decoder of one message at one version; ``tolerant``: see ``decode_prefix``."""
    return struct_decoder(cls, cls, version, tolerant)


def struct_decoder(
    root: type[Message], cls: type[Struct], version: int, tolerant: bool
) -> Callable[[bytes, int, int], Any]:
    """The decoder of one struct of a message; a struct that contains itself finds its own."""
    key = (cls, version, tolerant)
    if key not in _decoders:
        _decoders[key] = _struct_decoder(root, cls, version, tolerant)
    return _decoders[key]


def _struct_decoder(
    root: type[Message], cls: type[Struct], version: int, tolerant: bool
) -> Callable[[bytes, int, int], Any]:
    writer = DecoderWriter(root, version, tolerant)
    title = f"{'tolerant ' if tolerant else ''}decoder of {cls.__qualname__} v{version}"
    writer.source.add(0, "def read(b, p, e):")
    steps = DecoderSteps(writer.source, 1, tolerant)
    made = writer.struct(steps, cls)
    steps.settle()
    steps.add("if p > e: raise Malformed", f"return {made}, p")
    return writer.source.compile("read", title)


class DecoderWriter:
    """Writes the statements that read the structs of one message at one version."""

    def __init__(self, root: type[Message], version: int, tolerant: bool) -> None:
        self.root, self.version, self.tolerant = root, version, tolerant
        self.source = GeneratedSource()
        self.inside: list[type[Struct]] = []  # the structs around the place that is being written

    def layout_of(self, cls: type[Struct]) -> Layout:
        return layout(self.root.message_spec, cls.spec, self.version)

    def new(self, steps: DecoderSteps, cls: type[Struct]) -> str:
        """Add statements that make an object with default values, and return its name.

        Only absent and tagged fields get a default; the statements of the run set the others.
        """
        make, own = f"new_{cls.__name__}", self.layout_of(cls)
        self.source.names[make] = bare(cls)
        name = self.source.fresh(variable(cls.__name__))
        steps.add(f"{name} = {make}()", f"{name}._tags = None")
        for field in (*own.absent, *(slot.field for slot in own.tagged.values())):
            steps.add(f"{name}.{slot_of(field)} = {fresh_default(self.source, field)}")
        return name

    def struct(self, steps: DecoderSteps, cls: type[Struct]) -> str:
        """Read a struct; the name of the object."""
        own, name = self.layout_of(cls), self.new(steps, cls)
        self.inside.append(cls)
        for slot in own.plain:
            self.field(steps, slot, f"{name}.{slot_of(slot.field)}")
        if own.flexible:
            steps.read("B", "t")
            steps.flush()
            steps.add(*self.tags(steps, cls, name))
        self.inside.pop()
        return name

    def tags(self, steps: DecoderSteps, cls: type[Struct], name: str) -> list[str]:
        """Statements for a struct that has tagged fields: most have none."""
        from harness.codec.generate_decoder_tags import tags_decoder

        root, version, tolerant = self.root, self.version, self.tolerant
        read = f"read_tags_of_{cls.__name__}"
        self.source.names[read] = Lazy(lambda: tags_decoder(root, cls, version, tolerant))
        shift = f"; {steps.base} -= {steps.ahead}" if steps.ahead else ""
        return [f"if t: {steps.base} = {read}(b, {steps.here()}, e, {name}, t){shift}"]

    def field(self, steps: DecoderSteps, slot: Slot, target: str, tagged: bool = False) -> None:
        """Read one field into ``target``; as a tagged one, null is written otherwise."""
        kind = slot.field.kind
        form = fixed_format(kind)
        if form:
            steps.read(form, target)
        elif kind == "struct":
            self.nested(steps, slot, target, tagged)
        elif kind == "array":
            self.array(steps, slot, target)
        else:
            steps.varying(target, slot.compact, slot.nullable, kind == "string")

    def nested(self, steps: DecoderSteps, slot: Slot, target: str, tagged: bool) -> None:
        cls = nested_class(self.root, slot.field)
        if not slot.nullable:
            steps.add(f"{target} = {self.one(steps, cls)}")
            return
        steps.settle()
        marker = self.source.fresh("n")
        if tagged:
            steps.add(f"{marker}, p = uvarint(b, p)", f"if not {marker}: {target} = None")
        else:
            steps.add(f"{marker} = b[p]", "p += 1", f"if {marker} > 127: {target} = None")
        steps.add("else:")
        inner = DecoderSteps(self.source, steps.indent + 1, self.tolerant)
        inner.add(f"{target} = {self.one(inner, cls)}")
        inner.settle()

    def one(self, steps: DecoderSteps, cls: type[Struct]) -> str:
        """Read one struct, inline unless we are inside of it; an expression for the object."""
        if cls not in self.inside:
            return self.struct(steps, cls)
        steps.settle()
        name = self.source.fresh(variable(cls.__name__))
        steps.add(f"{name}, p = {self.function(cls)}(b, p, e)")
        return name

    def function(self, cls: type[Struct]) -> str:
        """The name of a function that reads this struct."""
        root, version, tolerant = self.root, self.version, self.tolerant
        name = f"read_{cls.__name__}"
        self.source.names[name] = Lazy(lambda: struct_decoder(root, cls, version, tolerant))
        return name

    def array(self, steps: DecoderSteps, slot: Slot, target: str) -> None:
        name, bias = steps.length(slot.compact, text=False)
        form = fixed_format(slot.field.element)
        numbers = form if slot.field.element != "uuid" else ""
        if slot.nullable:
            steps.when_not_null(name, bias, text=False)
            inner = DecoderSteps(self.source, steps.indent + 1, self.tolerant)
            inner.base, inner.ahead = steps.base, steps.ahead
        else:
            steps.require_length(name, bias, text=False)
            inner = steps
        if numbers:
            inner.counted = (numbers, target, name, bias)
        else:
            inner.settle()
            self.elements(inner, slot, target, name, bias)
        if slot.nullable:
            inner.settle()
            steps.add("else:")
            otherwise = DecoderSteps(self.source, steps.indent + 1, self.tolerant)
            otherwise.base, otherwise.ahead = steps.base, steps.ahead
            otherwise.add(f"{target} = None")
            otherwise.settle()
            steps.base, steps.ahead = "p", 0

    def elements(self, steps: DecoderSteps, slot: Slot, target: str, name: str, bias: int) -> None:
        """Read as many elements as ``name`` says, if they can be there."""
        element = slot.field.element
        count = f"{name} - 1" if bias else name
        smallest = minimum_bytes(self.root.message_spec, slot, self.version)
        cls = nested_class(self.root, slot.field) if element == "struct" else None
        if cls is not None and self.all_fixed(cls):
            self.fixed_elements(steps, cls, target, count)
            return
        times = f"({count}) * " if bias else f"{count} * "
        needed = f"{times}{smallest}" if smallest > 1 else count
        steps.add(f"if {needed} > e - p: raise Malformed")
        if element == "uuid":
            steps.add(f"q = p + {needed}", f"{target} = read_uuids(b, p, q)", "p = q")
            return
        items = self.source.fresh("items")
        steps.add(f"{items} = {target} = []", f"for _ in range({count}):")
        inner = DecoderSteps(self.source, steps.indent + 1, self.tolerant)
        if cls is not None:
            item = self.one(inner, cls)
        else:
            item = self.source.fresh("item")
            inner.varying(item, slot.compact, False, element == "string")
        inner.settle()
        inner.add(f"{items}.append({item})")

    def all_fixed(self, cls: type[Struct]) -> bool:
        """True if all structs of this class have one size, provided that they have no tags."""
        plain = self.layout_of(cls).plain
        return bool(plain) and all(fixed_format(slot.field.kind) for slot in plain)

    def fixed_elements(
        self, steps: DecoderSteps, cls: type[Struct], target: str, count: str
    ) -> None:
        """One ``iter_unpack`` for all; if any of them has tags, each is read by a function."""
        own = self.layout_of(cls)
        forms = "".join(fixed_format(slot.field.kind) for slot in own.plain)
        size = struct.calcsize(">" + forms) + own.flexible
        items = self.source.fresh("items")
        steps.add(f"{items} = {target} = []", f"q = p + ({count}) * {size}")
        steps.add("if q > e: raise Malformed")
        branch = "if"
        if own.flexible:
            steps.add(f"if q > p and b[p + {size - 1}:q:{size}].strip(b'\\0'):")
            read = f"read_each({self.function(cls)}, b, p, e, {count})"
            self.source.add(steps.indent + 1, f"{target}, p = {read}")
            branch = "elif"
        steps.add(f"{branch} q > p:")
        inner = DecoderSteps(self.source, steps.indent + 1, self.tolerant)
        values = [self.source.fresh("v") for _ in own.plain]
        unpack = self.source.packer(forms + "x" * own.flexible, "iter_unpack")
        inner.add(f"for {', '.join(values)}, in {unpack}(b[p:q]):")
        body = DecoderSteps(self.source, inner.indent + 1, self.tolerant)
        made = self.new(body, cls)
        for slot, value in zip(own.plain, values, strict=True):
            found = f"uuid_of({value})" if slot.field.kind == "uuid" else value
            body.add(f"{made}.{slot.field.name} = {found}")
        body.add(f"{items}.append({made})")
        inner.add("p = q")
