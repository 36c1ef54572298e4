"""Literals of strings of bytes: Python's ``b'...'``, and escapes as C and shells have them."""

from __future__ import annotations

import ast
import re

from harness.commands.codec.input_forms.text_form import Bytes, NearMiss

_PYTHON = re.compile(r"^\(?\s*(?:bytearray\(|bytes\()?\s*b['\"]")
_ESCAPED = re.compile(r"""^(?:[A-Z]\w*\s+\w+\s*=\s*)?\$?(["'])((?:[^\\]|\\.)*)\1;?$""", re.DOTALL)
_WRAPPED = re.compile(r"^(?:bytearray|bytes|memoryview)\((.*)\)$", re.DOTALL)


def read_python(text: str) -> Bytes | None:
    """Return the bytes of one or several bytes literals. Raises NearMiss for a broken one."""
    text = text.strip()
    if not _PYTHON.match(text):
        return None
    text = _WRAPPED.sub(r"\1", text)
    try:
        value = ast.literal_eval(f"({text}\n)")
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise NearMiss(f"a Python bytes literal that is not whole: {error}") from error
    return Bytes(value) if isinstance(value, bytes) else None


def read_escapes(text: str) -> Bytes | None:
    r"""Return the bytes of a quoted string with escapes such as ``\x00``, ``\0`` or ``\u0000``.

    Each character is one byte. Raises NearMiss for a character above U+00FF.
    """
    quoted = _ESCAPED.fullmatch(text.strip())
    if quoted is None or "\\" not in quoted[2]:
        return None
    try:
        value = ast.literal_eval(f'"""{_without_quotes(quoted[2])}"""')
    except (ValueError, SyntaxError) as error:
        raise NearMiss(f"a string with an escape that is not whole: {error}") from error
    try:
        return Bytes(value.encode("latin-1"))
    except UnicodeEncodeError as error:
        raise NearMiss(f"character {error.start + 1} of a string is above U+00FF") from error


def _without_quotes(text: str) -> str:
    return re.sub(r'(?<!\\)"', r"\"", text)
