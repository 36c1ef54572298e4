"""All message classes, made from their definitions on first access.

The definitions are the JSON files in ``schemas/`` and ``schemas/data/``. A class is loaded from one
line of ``schemas/compact.txt``, which is generated from them (``python -m harness.codec.stubs``; CI
checks that it is current), as is ``messages.pyi`` with the fields for editors and type checkers.

A definition ``NAME@2.7`` is the message of releases up to 2.7, where a later release changed the
bytes without a new version. It is a whole definition: all versions that those releases had.
"""

from __future__ import annotations

from harness.codec.compact_form import read_line
from harness.codec.structs import build_message_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.codec.structs import Message

_HERE = __file__.rpartition("messages.")[0]  # pathlib would take longer than all the rest
_lines: dict[str, str] = {}
_classes: dict[str, type[Message]] = {}


def _line_of_each() -> dict[str, str]:
    """``NAME`` or ``NAME@RELEASE`` -> its definition."""
    if not _lines:
        with open(f"{_HERE}schemas/compact.txt", encoding="utf-8") as file:  # noqa: PTH123
            found = {line.partition(" ")[0]: line for line in file.read().splitlines()}
        _lines.update(found)  # at once: another thread may be looking
    return _lines


def message_names() -> tuple[str, ...]:
    """The names of all definitions, sorted."""
    return tuple(sorted(name for name in _line_of_each() if "@" not in name))


def older_releases(name: str) -> tuple[str, ...]:
    """The last releases that spoke an older layout of a message, oldest first; mostly none."""
    found = [key.partition("@")[2] for key in _line_of_each() if key.startswith(f"{name}@")]
    return tuple(sorted(found, key=_numbers))


def message_class(name: str, release: str | None = None) -> type[Message]:
    """The class of the message ``name``, such as ``FetchRequest``; KeyError when there is none.

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
    words = release.split(".")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise ValueError(f"not a release: {release!r}")
    return tuple(int(word) for word in words)


def _built(key: str) -> type[Message]:
    found = _classes.get(key)
    if found is None:
        made = build_message_class(read_line(_line_of_each()[key]))
        found = _classes.setdefault(key, made)  # another thread may have been quicker
    return found


def __getattr__(name: str) -> Any:
    try:
        return message_class(name)
    except KeyError:
        raise AttributeError(f"no message definition {name!r}") from None


def __dir__() -> list[str]:
    return [*globals(), *message_names()]
