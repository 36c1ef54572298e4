"""Shared parts of the generators of decoders and encoders: lines of source, and compiling them."""

from __future__ import annotations

import struct

from harness.codec import generated_runtime
from harness.codec.layout import FIXED_FORMATS
from harness.codec.varint import decode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_RUNTIME = (
    *("Malformed", "ONE_BYTE", "read_length", "read_nullable_length", "read_text_length"),
    *("read_nullable_text_length", "write_length", "write_text_length", "uuid_of", "read_uuids"),
    *("read_each", "require_list", "require_bools", "bytes_of", "uuid_bytes", "tagged_section"),
)


class GeneratedSource:
    """Lines of Python with indentation, and the names that they refer to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {name: getattr(generated_runtime, name) for name in _RUNTIME}
        self.names["uvarint"] = decode_uvarint
        self._counts: dict[str, int] = {}

    def add(self, indent: int, *lines: str) -> None:
        self.lines += [" " * 4 * indent + line for line in lines]

    def fresh(self, prefix: str) -> str:
        """A name that is not in use yet."""
        count = self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}{count}" if count > 1 else prefix

    def constant(self, prefix: str, value: Any) -> str:
        """A global name for ``value``."""
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def packer(self, form: str, method: str) -> str:
        """The bound method of a big-endian ``struct.Struct``: pack, unpack_from or iter_unpack."""
        name = f"{method}_{form.replace('?', 'bool')}"
        if name not in self.names:
            self.names[name] = getattr(struct.Struct(">" + form), method)
        return name

    def counted(self, form: str, rest: str, bias: int, method: str) -> str:
        """A table of such methods by the number of elements: see ``Counted``."""
        name = f"{method}_{bias}_n{form}{rest}".replace("?", "bool")
        if name not in self.names:
            self.names[name] = generated_runtime.CountedArray(form, rest, bias, method)
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
    """A loader that returns source to tracebacks on demand; nothing is split or cached earlier."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, _name: str) -> str:
        return self.text


def source_of(function: Callable[..., Any]) -> str:
    """The text that a generated function was compiled from."""
    lines: _Lines = function.__globals__["__loader__"]
    return lines.text


def variable(name: str) -> str:
    """A name for an object of the class ``name``."""
    return "".join([f"_{c.lower()}" if c.isupper() else c for c in name]).lstrip("_")


def fixed_format(kind: str) -> str:
    """The struct format of a kind, '' when its width varies."""
    return "16s" if kind == "uuid" else FIXED_FORMATS.get(kind, "")
