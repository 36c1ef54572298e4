"""The meaning of every byte of a message: the interpreter's reading as a tree.

The offsets are those of the interpreter. The tree of a broken message ends at the broken field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.codec.errors import CodecError, DecodeError
from harness.codec.interpreter_decode import FieldReader
from harness.codec.layout import Slot
from harness.codec.structs import Message, Struct

UNREAD: Any = object()  # the value of a field at which reading ended


@dataclass(slots=True)
class TracedField:
    """A field, an element of an array, or a section of tags; ``stop`` is the byte behind it.

    ``type`` is the definition's (``int32``, ``[]string``). The bytes of a known tagged field begin
    with its tag and size.
    """

    name: str
    type: str
    offset: int
    stop: int
    value: Any = UNREAD
    tag: int | None = None
    inner: list[TracedField] = field(default_factory=list)

    def walk(self) -> Iterator[TracedField]:
        """The field itself and all in it, in the order of the bytes."""
        yield self
        for one in self.inner:
            yield from one.walk()


class TracingReader(FieldReader):
    """A strict reader that keeps a tree of what it read, in ``root``."""

    def __init__(self, cls: type[Message], version: int, data: bytes, offset: int = 0) -> None:
        super().__init__(cls, version, data, offset)
        self.root = TracedField(cls.__name__, "struct", offset, offset)
        self._open = [self.root]

    def read(self) -> Message:
        """As the interpreter; the tree is there also after a DecodeError."""
        try:
            made = self.root.value = super().read()
        finally:
            self.root.stop = self.offset
        return made

    def at(self, name: str, read: Callable[..., Any], *arguments: Any) -> Any:
        slot = next((word for word in arguments if isinstance(word, Slot)), None)
        return self._traced(
            TracedField(name, _type(name, slot), self.offset, self.offset),
            lambda: super(TracingReader, self).at(name, read, *arguments),
        )

    def known_tag(self, made: Struct, slot: Slot, size: int) -> None:
        start = self.field_offset
        before = len(self._open[-1].inner)
        try:
            super().known_tag(made, slot, size)
        finally:
            for found in self._open[-1].inner[before:]:  # tag and size belong to the field
                found.offset, found.tag = start, slot.field.tag

    def unknown_tag(self, made: Struct, tag: int, size: int) -> None:
        unknown = TracedField("(unknown)", "bytes", self.field_offset, self.offset, tag=tag)

        def read() -> bytes:
            super(TracingReader, self).unknown_tag(made, tag, size)
            return made.unknown_tagged_fields[tag]

        self._traced(unknown, read)

    def _traced(self, node: TracedField, read: Callable[[], Any]) -> Any:
        self._open[-1].inner.append(node)
        self._open.append(node)
        try:
            node.value = read()
        finally:
            node.stop = self.offset
            self._open.pop()
        return node.value


def _type(name: str, slot: Slot | None) -> str:
    if slot is None:
        return ""
    own = slot.field
    inner = own.struct.name if own.struct else own.element
    if own.kind == "array":
        return inner if name.startswith("[") else f"[]{inner}"
    return inner if own.kind == "struct" else own.kind


@dataclass(slots=True)
class Traced:
    """The tree of a message, and the error where its bytes are not all good."""

    root: TracedField
    error: CodecError | None

    @property
    def message(self) -> Message:
        """The decoded message. Raises the error if decoding failed."""
        if self.error is not None:
            raise self.error
        made: Message = self.root.value
        return made


def trace(
    cls: type[Message], version: int, data: bytes, offset: int = 0, *, whole: bool = True
) -> Traced:
    """The message at ``offset`` as a tree; ``whole``: bytes left over are an error.

    A DecodeError is not raised but handed back. The caller has checked the version.
    """
    reader = TracingReader(cls, version, data, offset)
    try:
        reader.read()
    except DecodeError as error:
        return Traced(reader.root, error)
    left = len(data) - reader.offset
    if left and whole:
        behind = DecodeError(
            f"{left} bytes left over after the message",
            message=cls.__name__,
            version=version,
            path="",
            offset=reader.offset,
        )
        return Traced(reader.root, behind)
    return Traced(reader.root, None)
