"""What the generators of decoders and encoders share: lines of source, and compiling them."""

from __future__ import annotations

import struct

from harness.codec.layout import FIXED_FORMATS, Layout, Slot, layout
from harness.codec.specs import MessageSpec, StructSpec
from harness.codec.structs import Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Malformed(Exception):
    """Raised by generated code; the interpreter then finds out what is wrong and where."""


class Source:
    """Lines of Python with indentation, and the names that they refer to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"Malformed": Malformed}

    def add(self, indent: int, *lines: str) -> None:
        self.lines += [" " * 4 * indent + line for line in lines]

    def constant(self, prefix: str, value: Any) -> str:
        """A global name for ``value``."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def packer(self, form: str, method: str) -> str:
        """The bound method of a big-endian ``struct.Struct``: pack or unpack_from."""
        name = f"{method}_{form.replace('?', 'bool')}"
        self.names[name] = getattr(struct.Struct(">" + form), method)
        return name

    def compile(self, entry: str, title: str) -> Callable[..., Any]:
        """Run the source and hand out one function; tracebacks can show its lines."""
        text = "\n".join(self.lines) + "\n"
        filename = f"generated {title}"
        self.names.update(__name__=filename, __loader__=_Lines(text))
        exec(compile(text, filename, "exec"), self.names)  # noqa: S102  # our own source
        made: Callable[..., Any] = self.names[entry]
        return made


class _Lines:
    """What tracebacks ask for source; so nothing is split or kept in their cache until then."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, _name: str) -> str:
        return self.text


def layouts_of(cls: type[Message], version: int) -> Iterator[tuple[type[Struct], Layout]]:
    """Every struct that is reachable at this version, with its class; the root comes last."""
    spec = cls.message_spec
    seen: dict[str, StructSpec] = {}
    _collect(spec, spec.root, version, seen)
    for name, own in seen.items():
        yield getattr(cls, name), layout(spec, own, version)
    yield cls, layout(spec, spec.root, version)


def _collect(spec: MessageSpec, own: StructSpec, version: int, seen: dict[str, StructSpec]) -> None:
    at = layout(spec, own, version)
    for slot in (*at.plain, *at.tagged.values()):
        inner = slot.field.struct
        if inner is not None and inner.name not in seen:
            seen[inner.name] = inner
            _collect(spec, inner, version, seen)


def fixed_runs(slots: tuple[Slot, ...]) -> Iterator[tuple[str, list[Slot]]]:
    """Neighbouring fields of fixed width together: (struct format, slots); others alone with ''."""
    run: list[Slot] = []
    for slot in slots:
        if fixed_format(slot.field.kind):
            run.append(slot)
            continue
        if run:
            yield "".join(fixed_format(s.field.kind) for s in run), run
            run = []
        yield "", [slot]
    if run:
        yield "".join(fixed_format(s.field.kind) for s in run), run


def fixed_format(kind: str) -> str:
    """The struct format of a kind, '' when its width varies."""
    return "16s" if kind == "uuid" else FIXED_FORMATS.get(kind, "")
