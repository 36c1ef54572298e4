"""Generated constructors: a struct from keyword arguments, without a loop over its fields."""

from __future__ import annotations

from harness.codec.generate_default import fresh_default
from harness.codec.source import GeneratedSource
from harness.codec.structs import bare, slot_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness.codec.structs import Struct

_FRESH = "[]"  # what two structs may not share is made in the call


def generate_constructor(cls: type[Struct]) -> Callable[..., Any]:
    """A function of the struct's fields, all optional, and ``unknown_tagged_fields``."""
    source = GeneratedSource()
    source.names.update(_new=bare(cls), _NOTHING=object())
    defaults = {field: fresh_default(source, field) for field in cls.spec.fields}
    parameters = [
        f"{field.name}={'_NOTHING' if default == _FRESH else default}"
        for field, default in defaults.items()
    ]
    source.add(0, f"def make(*, {', '.join(['unknown_tagged_fields=None', *parameters])}):")
    source.add(1, "_made = _new()", "_made._tags = unknown_tagged_fields")
    for field, default in defaults.items():
        given = f"[] if {field.name} is _NOTHING else {field.name}"
        value = given if default == _FRESH else field.name
        source.add(1, f"_made.{slot_of(field)} = {value}")
    source.add(1, "return _made")
    return source.compile("make", f"constructor of {cls.__qualname__}")
