"""Generated encoders of tagged fields: made when a struct that has some is first met."""

from __future__ import annotations

from harness.codec.generate_default import differs_from_default
from harness.codec.generate_encoder import EncoderWriter
from harness.codec.generate_encoder_steps import EncoderSteps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.codec.structs import Message, Struct


def tags_encoder(root: type[Message], cls: type[Struct], version: int) -> Callable[[Struct], bytes]:
    """``encode(struct) -> bytes``: the number of its tagged fields, and those."""
    writer = EncoderWriter(root, version)
    source = writer.source
    known = frozenset(field.tag for field in cls.spec.fields if field.tag >= 0)
    source.names["known"] = known
    source.add(0, "def encode(m):")
    source.add(1, "found = {}")
    for tag, slot in writer.layout_of(cls).tagged.items():
        source.add(1, f"if {differs_from_default(source, cls, 'm', slot.field)}:")
        steps = EncoderSteps(source, 2)
        steps.add("o = []", "add = o.append")
        writer.field(steps, slot, "m", tagged=True)
        steps.flush()
        steps.add(f"found[{tag}] = b''.join(o)")
    source.add(1, "return tagged_section(found, m._tags, known)")
    return source.compile("encode", f"encoder of tags of {cls.__qualname__} v{version}")
