"""Generated code for defaults: making a fresh default, and comparing a value with the default.

Most fields of tagged sections have their default, so this code runs for every element.
"""

from __future__ import annotations

from harness.codec.generated_runtime import Lazy
from harness.codec.source import GeneratedSource
from harness.codec.structs import default_of, slot_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from harness.codec.specs import FieldSpec
    from harness.codec.structs import Struct

_LITERALS = (int, str, bytes, type(None))  # bool is an int
_comparers: dict[type[Struct], Callable[..., Any]] = {}


def fresh_default(source: GeneratedSource, field: FieldSpec) -> str:
    """Return an expression for the value of an absent field; objects share no mutable value."""
    if field.made_when_asked:
        return "..."
    return "[]" if field.kind == "array" and field.default is not None else _constant(source, field)


def differs_from_default(
    source: GeneratedSource, cls: type[Struct], owner: str, field: FieldSpec
) -> str:
    """An expression that is true when a field of ``owner`` (a name) is not at its default."""
    value = f"{owner}.{slot_of(field)}"
    if field.default is ...:
        inner = type(default_of(cls, field.name))
        if inner not in _comparers:
            _comparers[inner] = Lazy(lambda: _comparer(inner))
        is_default = f"is_default_{inner.__name__}"
        source.names[is_default] = _comparers[inner]
        return f"{value} is not ... and not {is_default}({value})"
    if field.default is None:
        return f"{value} is not None"
    if field.kind == "array":
        return (
            f"{value} is not ... and {value} != []" if field.made_when_asked else f"{value} != []"
        )
    if field.kind == "uuid":  # comparing those is slow
        default = _constant(source, field)
        return f"{value} is not {default} and {value} != {default}"
    return f"{value} != {_constant(source, field)}"


def _constant(source: GeneratedSource, field: FieldSpec) -> str:
    if isinstance(field.default, _LITERALS):
        return repr(field.default)
    name = f"default_{field.name}"
    source.names[name] = field.default
    return name


def _comparer(cls: type[Struct]) -> Callable[..., Any]:
    source = GeneratedSource()
    source.names.update(cls=cls)
    source.add(0, "def is_default(m):")
    source.add(1, "if type(m) is not cls or m._tags: return False")
    for field in cls.spec.fields:
        differs = differs_from_default(source, cls, "m", field)
        source.add(1, f"if {differs}: return False")
    source.add(1, "return True")
    return source.compile("is_default", f"comparison of {cls.__qualname__}")
