"""Hex digits: with and without blanks, colons, 0x, quotes or brackets around them."""

from __future__ import annotations

import re

from harness.commands.codec.input_forms.text_form import Bytes, NearMiss

_AROUND = re.compile(r"""^(?:<Buffer |[bxX]?['"\[{(<])?\s*(.*?)\s*['"\]})>]?;?$""", re.DOTALL)
_PREFIX = re.compile(r"\\x|0x", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s:,;_|-]+")
_DIGITS = re.compile(r"[0-9a-fA-F]*")
_SHOWN = 12


def read_hex(text: str) -> Bytes | None:
    """Return the bytes of hex digits in groups of two or a multiple of it.

    Raises NearMiss for a group with an odd number of digits.
    """
    inside = _AROUND.sub(r"\1", text.strip())
    groups = [group for group in _BETWEEN.split(_PREFIX.sub(" ", inside)) if group]
    if not all(_DIGITS.fullmatch(group) for group in groups):
        return None
    for number, group in enumerate(groups, 1):
        if len(group) % 2:
            where = f"group {number}, {group[:_SHOWN]}, has" if len(groups) > 1 else "there are"
            raise NearMiss(f"an odd number of hex digits: {where} {len(group)}")
    details = ["with 0x"] if _PREFIX.search(inside) else []
    return Bytes(bytes.fromhex("".join(groups)), ", ".join(details))
