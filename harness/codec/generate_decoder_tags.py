"""Generated decoders of tagged fields: made when a struct that has some is first met."""

from __future__ import annotations

import struct

from harness.codec.generate_decoder import DecoderWriter
from harness.codec.generate_decoder_steps import DecoderSteps
from harness.codec.source import fixed_format
from harness.codec.structs import slot_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness.codec.layout import Slot
    from harness.codec.structs import Message, Struct


def tags_decoder(
    root: type[Message], cls: type[Struct], version: int, tolerant: bool
) -> Callable[..., Any]:
    """``read(data, offset, end, struct, first byte of the number of fields) -> next offset``."""
    writer = DecoderWriter(root, version, tolerant)
    add = writer.source.add
    add(0, "def read(b, p, e, m, t):")
    add(1, "if t > 127: t, p = uvarint(b, p - 1)", "last = -1", "for _ in range(t):")
    add(2, "tag, p = uvarint(b, p)", "size, p = uvarint(b, p)", "stop = p + size")
    if not tolerant:  # Kafka's readers do not look at the size of a tag that they know
        add(2, "if tag <= last or stop > e: raise Malformed", "last = tag")
    branch = "if"
    for tag, slot in writer.layout_of(cls).tagged.items():
        add(2, f"{branch} tag == {tag}:")
        _value(writer, slot, tolerant)
        branch = "elif"
    retired = [f.tag for f in cls.spec.fields if f.tag >= 0]
    if retired:  # those that are valid were found above
        add(2, f"{branch} tag in {tuple(retired)}: raise Malformed")
    add(2, "else:" if retired else "if True:")
    add(3, "if stop > e: raise Malformed", "m.unknown_tagged_fields[tag] = b[p:stop]", "p = stop")
    add(1, "return p")
    title = f"{'tolerant ' if tolerant else ''}decoder of tags of {cls.__qualname__} v{version}"
    return writer.source.compile("read", title)


def _value(writer: DecoderWriter, slot: Slot, tolerant: bool) -> None:
    steps = DecoderSteps(writer.source, 3, tolerant)
    form = fixed_format(slot.field.kind)
    if form and not tolerant:
        steps.add(f"if size != {struct.calcsize('>' + form)}: raise Malformed")
    writer.field(steps, slot, f"m.{slot_of(slot.field)}", tagged=True)
    steps.settle()
    if not tolerant:
        steps.add("if p != stop: raise Malformed")
