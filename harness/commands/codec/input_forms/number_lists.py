"""Lists of numbers: decimal, signed or not, the array literals of Java, C, Go, Rust, Python, and
the JSON of a Buffer of Node.js."""

from __future__ import annotations

import re

from harness.commands.codec.input_forms.text_form import Bytes, NearMiss

_IN_ARRAY = re.compile(
    r"^(?:[\w\s.&:*=<>\[\]]*?)[\[{(]\s*((?:[-+\w\s,;]|\(\s*byte\s*\))*?)[,\s]*[\]})]+"
    r"(?:\s*;\s*unsigned int \w+ = \d+)?\s*;?$",
    re.DOTALL,
)
_BUFFER = re.compile(r'\{\s*"type"\s*:\s*"Buffer"\s*,\s*"data"\s*:\s*(\[.*\])\s*\}', re.DOTALL)
"""The JSON of a Buffer of Node.js."""
_CAST = re.compile(r"\(\s*byte\s*\)\s*")
_SUFFIX = re.compile(r"(?<=[0-9a-fA-F])(?:u8|i8)\b")
_BETWEEN = re.compile(r"[\s,;]+")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_HEX = re.compile(r"[-+]?0[xX][0-9a-fA-F]{1,2}")
_LOWEST, _SIGNED_END, _END = -128, 128, 256


def read_decimals(text: str) -> Bytes | None:
    """Return the bytes of two or more decimal numbers without brackets. Raises NearMiss."""
    words = _words(text)
    return _bytes(words) if len(words) > 1 and all(map(_DECIMAL.fullmatch, words)) else None


def read_array(text: str) -> Bytes | None:
    """Return the bytes of an array literal, or of numbers with 0x. Raises NearMiss."""
    buffer = _BUFFER.fullmatch(text.strip())
    inside = _IN_ARRAY.fullmatch(buffer[1] if buffer else text.strip())
    words = _words(_SUFFIX.sub("", _CAST.sub("", inside[1] if inside else text)))
    if not words or not all(_DECIMAL.fullmatch(word) or _HEX.fullmatch(word) for word in words):
        return None
    if inside is None and not all(map(_HEX.fullmatch, words)):
        return None  # decimal numbers alone
    return _bytes(words)


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN.split(text.strip()) if word]


def _bytes(words: list[str]) -> Bytes:
    numbers = [int(word, 16 if "x" in word.lower() else 10) for word in words]
    for place, number in enumerate(numbers):
        if not _LOWEST <= number < _END:
            raise NearMiss(f"number {place + 1}, {number}, is no byte ({_LOWEST} to {_END - 1})")
    is_signed = min(numbers) < 0
    if is_signed and all(map(_DECIMAL.fullmatch, words)) and max(numbers) >= _SIGNED_END:
        place = numbers.index(max(numbers))
        raise NearMiss(f"number {place + 1}, {numbers[place]}, is above 127 beside negative ones")
    return Bytes(bytes(number % _END for number in numbers), "signed" if is_signed else "")
