"""Generated defaults: making a fresh one, and telling whether a value is one.

Most structs of tagged fields stand at their default, so both are asked for at every element.
"""

from __future__ import annotations

from harness.codec.source import Source
from harness.codec.structs import Struct, bare, default_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_LITERALS = (int, str, type(None))  # bool is an int
_makers: dict[type[Struct], Callable[..., Any]] = {}
_comparers: dict[type[Struct], Callable[..., Any]] = {}


def fresh_default(source: Source, default: Any) -> str:
    """An expression that makes a value equal to ``default``, shared with nobody."""
    if isinstance(default, Struct):
        cls = type(default)
        if cls not in _makers:
            _makers[cls] = _maker(cls)
        return f"{source.constant('make', _makers[cls])}()"
    if isinstance(default, list):
        return "[]"
    return _constant(source, default)


def differs_from_default(source: Source, default: Any, value: str) -> str:
    """An expression that is true when ``value`` (an expression) is not equal to ``default``."""
    if isinstance(default, Struct):
        cls = type(default)
        if cls not in _comparers:
            _comparers[cls] = _comparer(cls)
        return f"not {source.constant('is_default', _comparers[cls])}({value})"
    return f"{value} != {_constant(source, default)}"


def _constant(source: Source, default: Any) -> str:
    return repr(default) if isinstance(default, _LITERALS) else source.constant("default", default)


def _maker(cls: type[Struct]) -> Callable[..., Any]:
    source = Source()
    source.names.update(cls=cls, new=bare(cls))
    source.add(0, "def make():")
    source.add(1, "m = new()", "m._tags = None")
    for field in cls.spec.fields:
        made = fresh_default(source, default_of(cls, field.name))
        source.add(1, f"m.{field.name} = {made}")
    source.add(1, "return m")
    return source.compile("make", f"default of {cls.__qualname__}")


def _comparer(cls: type[Struct]) -> Callable[..., Any]:
    source = Source()
    source.names.update(cls=cls)
    source.add(0, "def is_default(m):")
    source.add(1, "if type(m) is not cls or m._tags: return False")
    for field in cls.spec.fields:
        differs = differs_from_default(source, default_of(cls, field.name), f"m.{field.name}")
        source.add(1, f"if {differs}: return False")
    source.add(1, "return True")
    return source.compile("is_default", f"comparison of {cls.__qualname__}")
