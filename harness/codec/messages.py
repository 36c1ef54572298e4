"""All message classes, made from the definitions in ``schemas/`` when first asked for.

``messages.pyi`` beside this file tells editors and type checkers their fields; it is generated
(``python -m harness.codec.stubs``) and CI checks that it is current.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from harness.codec.definition import parse_definition
from harness.codec.structs import Message, build_message_class

_SCHEMAS = files("harness.codec") / "schemas"


@cache
def message_names() -> tuple[str, ...]:
    """The names of all loaded definitions, sorted."""
    names = (entry.name for entry in _SCHEMAS.iterdir())
    return tuple(sorted(name[:-5] for name in names if name.endswith(".json")))


@cache
def message_class(name: str) -> type[Message]:
    """The class of the message ``name``, such as ``FetchRequest``; KeyError when none is loaded."""
    if name not in message_names():
        raise KeyError(name)
    file = f"{name}.json"
    return build_message_class(parse_definition((_SCHEMAS / file).read_text("utf-8"), file))


def __getattr__(name: str) -> Any:
    try:
        return message_class(name)
    except KeyError:
        raise AttributeError(f"no message definition {name!r}") from None


def __dir__() -> list[str]:
    return [*globals(), *message_names()]
