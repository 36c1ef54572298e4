"""All message classes, made from the definitions in ``schemas/`` when first asked for.

``messages.pyi`` beside this file tells editors and type checkers their fields; it is generated
(``python -m harness.codec.stubs``) and CI checks that it is current.

A file ``NAME@2.7.json`` is a message as releases up to 2.7 spoke it, where a later release changed
the bytes without a new version. It is a whole definition: all versions that those releases had.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from harness.codec.definition import parse_definition
from harness.codec.structs import Message, build_message_class

_SCHEMAS = files("harness.codec") / "schemas"
_FOLDERS = (_SCHEMAS, _SCHEMAS / "data")  # requests, responses and headers; everything else


@cache
def _definitions() -> dict[str, Any]:
    """``NAME`` or ``NAME@RELEASE`` -> its file."""
    found = [entry for folder in _FOLDERS if folder.is_dir() for entry in folder.iterdir()]
    return {entry.name[:-5]: entry for entry in found if entry.name.endswith(".json")}


@cache
def message_names() -> tuple[str, ...]:
    """The names of all loaded definitions, sorted."""
    return tuple(sorted(name for name in _definitions() if "@" not in name))


@cache
def older_releases(name: str) -> tuple[str, ...]:
    """The last releases that spoke an older layout of a message, oldest first; mostly none."""
    found = [key.partition("@")[2] for key in _definitions() if key.startswith(f"{name}@")]
    return tuple(sorted(found, key=_numbers))


def message_class(name: str, release: str | None = None) -> type[Message]:
    """The class of the message ``name``, such as ``FetchRequest``; KeyError when none is loaded.

    ``release``: as this release of Apache Kafka spoke it (``2.7.2``), where that was different.
    """
    if release is not None:
        numbers = _numbers(release)
        for older in older_releases(name):
            last = _numbers(older)
            if numbers[: len(last)] <= last:
                return _built(f"{name}@{older}")
    return _built(name)


def _numbers(release: str) -> tuple[int, ...]:
    """Raises ValueError for what is no release."""
    return tuple(int(word) for word in release.split("."))


@cache
def _built(key: str) -> type[Message]:
    file = _definitions()[key]
    return build_message_class(parse_definition(file.read_text("utf-8"), file.name))


def __getattr__(name: str) -> Any:
    try:
        return message_class(name)
    except KeyError:
        raise AttributeError(f"no message definition {name!r}") from None


def __dir__() -> list[str]:
    return [*globals(), *message_names()]
