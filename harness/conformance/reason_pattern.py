"""From the reasons of failed checks to a regular expression that finds them again.

What differs from run to run stands in it as a class: names of this project's topics and groups,
numbers, long hexadecimal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LIMIT_CHARACTERS = 120
"""Of the pattern of one reason: what follows there is most often bytes or whole answers."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OWN_NAME = r"[\w.-]*[0-9a-f]{14}-[0-9a-f]{8}-(?:\d+|sweep)"
_VARIABLE = re.compile(
    rf"(?P<own>{_OWN_NAME})|(?P<uuid>{_UUID})|(?P<hex>(?<!\w)[0-9a-f]{{12,}}(?!\w))|(?P<number>\d+)"
)
_CLASSES = {"own": r"\S+", "uuid": r"[0-9a-f-]+", "hex": r"[0-9a-f]+", "number": r"\d+"}


def pattern_of(reasons: Iterable[str]) -> str:
    """The alternatives that find the first line of each reason, each once; empty if none is there.

    They begin where the reason begins, so that a longer reason that contains another is not found.
    """
    lines = {_first_line(reason) for reason in reasons} - {""}
    return "|".join(sorted({f"^{_line_pattern(line)}" for line in lines}))


def _first_line(reason: str) -> str:
    return next(iter(reason.strip().splitlines()), "").strip()


def _line_pattern(line: str) -> str:
    parts, at = [], 0
    for match in _VARIABLE.finditer(line):
        parts += [_escaped(line[at : match.start()]), _CLASSES[str(match.lastgroup)]]
        at = match.end()
    return _cut([*parts, _escaped(line[at:])])


def _escaped(text: str) -> str:
    """As re.escape, but spaces and signs without a meaning stay readable."""
    return re.sub(r"[\\^$.|?*+()\[\]{}]", r"\\\g<0>", text)


def _cut(parts: list[str]) -> str:
    """Join the parts up to the limit, without half of an escape."""
    text = ""
    for part in parts:
        room = LIMIT_CHARACTERS - len(text)
        if len(part) > room:
            whole = part in _CLASSES.values()
            return text if whole else text + part[:room].rstrip("\\")
        text += part
    return text
