"""Generated encoders: straight-line Python per (message, version).

A generated encoder is ``encode(message) -> list[bytes]``. It returns the parts; large values of the
message are parts of their own, so that a caller can write them without another copy. It raises any
exception for a value that does not fit; the caller then uses the interpreter to find the field.
Structs are written inline, in nested loops; only structs that contain themselves are functions.

The names in generated code: ``o`` the parts and ``add`` their append, ``s`` bytes, ``n`` lengths
and counts (of compact ones: plus 1, as they are written).
"""

from __future__ import annotations

from harness.codec.generate_default import differs_from_default
from harness.codec.generate_encoder_steps import EncoderSteps
from harness.codec.generated_runtime import Lazy
from harness.codec.layout import Layout, Slot, layout
from harness.codec.source import GeneratedSource, fixed_format, variable
from harness.codec.structs import nested_class, slot_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.codec.structs import Message, Struct

_encoders: dict[tuple[type[Struct], int], Callable[[Struct], list[bytes]]] = {}


def generate_encoder(cls: type[Message], version: int) -> Callable[[Struct], list[bytes]]:
    """The encoder of one message at one version."""
    return struct_encoder(cls, cls, version)


def struct_encoder(
    root: type[Message], cls: type[Struct], version: int
) -> Callable[[Struct], list[bytes]]:
    """The encoder of one struct of a message; a struct that contains itself finds its own."""
    key = (cls, version)
    if key not in _encoders:
        writer = EncoderWriter(root, version)
        writer.begin("m")
        steps = EncoderSteps(writer.source, 1)
        writer.struct(steps, cls, "m")
        _encoders[key] = writer.end(steps, f"encoder of {cls.__qualname__} v{version}")
    return _encoders[key]


class EncoderWriter:
    """Writes the statements that write the structs of one message at one version."""

    def __init__(self, root: type[Message], version: int) -> None:
        self.root, self.version = root, version
        self.source = GeneratedSource()
        self.inside: list[type[Struct]] = []  # the structs around the place that is being written

    def begin(self, argument: str) -> None:
        self.source.add(0, f"def encode({argument}):")
        self.source.add(1, "o = []", "add = o.append")

    def end(self, steps: EncoderSteps, title: str) -> Callable[[Struct], list[bytes]]:
        steps.flush()
        steps.add("return o")
        return self.source.compile("encode", title)

    def layout_of(self, cls: type[Struct]) -> Layout:
        return layout(self.root.message_spec, cls.spec, self.version)

    def struct(self, steps: EncoderSteps, cls: type[Struct], name: str) -> None:
        """Write the struct that a variable holds."""
        own = self.layout_of(cls)
        self.source.names[cls.__name__] = cls
        steps.add(f"if type({name}) is not {cls.__name__}: raise Malformed")
        for field in own.absent:
            if not field.ignorable:
                differs = differs_from_default(self.source, cls, name, field)
                steps.add(f"if {differs}: raise Malformed")
        self.inside.append(cls)
        for slot in own.plain:
            self.field(steps, slot, name)
        if own.flexible:
            self.tags(steps, cls, name, own)
        else:
            steps.add(f"if {name}._tags: raise Malformed")
        self.inside.pop()

    def tags(self, steps: EncoderSteps, cls: type[Struct], name: str, own: Layout) -> None:
        """The number of tagged fields: 0, which is replaced where there are any."""
        from harness.codec.generate_encoder_tags import tags_encoder

        steps.write("x", "")
        steps.flush()
        root, version = self.root, self.version
        write = f"tags_of_{cls.__name__}"
        self.source.names[write] = Lazy(lambda: tags_encoder(root, cls, version))
        fields = [slot.field for slot in own.tagged.values()]
        differs = [differs_from_default(self.source, cls, name, field) for field in fields]
        steps.add(f"if {' or '.join([f'{name}._tags', *differs])}:")
        steps.inner().add(f"o[-1] = o[-1][:-1] + {write}({name})")

    def field(self, steps: EncoderSteps, slot: Slot, owner: str, tagged: bool = False) -> None:
        """Write one field of ``owner``; as a tagged one, a null struct is another byte."""
        kind = slot.field.kind
        value = f"{owner}.{slot.field.name}"
        form = fixed_format(kind)
        if form:
            steps.write(form, value)
        elif kind == "struct":
            self.nested(steps, slot, value, tagged)
        elif kind == "array":
            self.array(steps, slot, owner)
        else:
            steps.varying(value, slot.compact, slot.nullable, kind == "string")

    def nested(self, steps: EncoderSteps, slot: Slot, value: str, tagged: bool) -> None:
        cls = nested_class(self.root, slot.field)
        name = self.source.fresh(variable(cls.__name__))
        if not slot.nullable:
            steps.add(f"{name} = {value}")
            self.one(steps, cls, name)
            return
        steps.flush()
        steps.add(f"{name} = {value}")
        null = b"\0" if tagged else b"\xff"
        steps.add(f"if {name} is None: add({null!r})", "else:")
        inner = steps.inner()
        inner.write("b", "1")  # as int8 and as unsigned varint it is the same byte
        self.one(inner, cls, name)
        inner.flush()

    def one(self, steps: EncoderSteps, cls: type[Struct], name: str) -> None:
        """Write one struct, inline unless we are inside of it."""
        if cls not in self.inside:
            self.struct(steps, cls, name)
            return
        steps.flush()
        root, version = self.root, self.version
        write = f"write_{cls.__name__}"
        self.source.names[write] = Lazy(lambda: struct_encoder(root, cls, version))
        steps.add(f"for part in {write}({name}): add(part)")

    def array(self, steps: EncoderSteps, slot: Slot, owner: str) -> None:
        items, name = self.source.fresh("items"), self.source.fresh("n")
        steps.add(f"{items} = {owner}.{slot_of(slot.field)}")
        if slot.field.made_when_asked:
            steps.add(f"if {items} is ...: {items} = []")
        indent = steps.indent + slot.nullable
        if slot.nullable:
            steps.add(f"if {items} is None: {name}, {items} = {0 if slot.compact else -1}, ()")
            steps.add("else:")
        self.source.add(indent, f"if type({items}) is not list: require_list({items})")
        self.source.add(indent, f"{name} = len({items})" + " + 1" * slot.compact)
        if slot.field.element == "bool":
            steps.add(f"require_bools({items})")
        steps.length(name, slot.compact, "array")
        form = fixed_format(slot.field.element)
        if form and form != "16s":
            steps.counted = (form, items, name, int(slot.compact))
        else:
            self.elements(steps, slot, items)

    def elements(self, steps: EncoderSteps, slot: Slot, items: str) -> None:
        element = slot.field.element
        inner = steps.inner()
        if element == "struct":
            cls = nested_class(self.root, slot.field)
            item = self.source.fresh(variable(cls.__name__))
            steps.add(f"for {item} in {items}:")
            self.one(inner, cls, item)
        else:
            item = self.source.fresh("item")
            steps.add(f"for {item} in {items}:")
            if element == "uuid":
                inner.write("16s", item)
            else:
                inner.varying(item, slot.compact, False, element == "string")
        inner.flush()
