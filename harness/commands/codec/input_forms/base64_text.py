"""Base64, of both alphabets, in one line or many."""

from __future__ import annotations

import base64
import binascii
import re

from harness.commands.codec.input_forms.text_form import Bytes, NearMiss

_LINE = re.compile(r"[A-Za-z0-9+/_-]+")
_QUOTED = re.compile(r"^(['\"]?)(.*)\1$", re.DOTALL)
_GROUP = 4


def read_base64(text: str) -> Bytes | None:
    """Return the bytes of Base64 text; padding may be missing. Raises NearMiss for a cut text."""
    lines = _QUOTED.sub(r"\2", text.strip()).split("\n")
    joined = "".join(line.strip() for line in lines)
    digits = joined.rstrip("=")
    if not _LINE.fullmatch(digits):
        return None
    if len(digits) % _GROUP == 1:
        raise NearMiss(f"Base64 of {len(digits)} digits, where the last group has one")
    normal = digits.replace("-", "+").replace("_", "/")
    try:
        return Bytes(base64.b64decode(normal + "=" * (-len(normal) % _GROUP), validate=True))
    except binascii.Error:
        return None
