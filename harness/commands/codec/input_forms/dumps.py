"""Dumps with an offset at the start of each line: xxd, hexdump -C, od, Wireshark, tcpdump -x.

The offsets and the column of text must fit the bytes, so that a dump in other units, such as the
little-endian words of plain ``hexdump``, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from harness.commands.codec.input_forms.text_form import Bytes, NearMiss

_REPEATED = "*"  # lines like the one before are left out


class _Line(NamedTuple):
    number: int
    offset: str
    data: bytes
    text: str


_XXD = re.compile(
    r"\s*(?:0x)?([0-9a-fA-F]{4,16}):\s+((?:[0-9a-fA-F]{2})+(?: (?:[0-9a-fA-F]{2})+)*)"
    r"(?:\s{2,}(.*))?"
)
_HEXDUMP = re.compile(r"\s*([0-9a-fA-F]{4,16})((?:\s{1,3}[0-9a-fA-F]{2})*)\s*(?:[|>](.*)[|<])?\s*")
_PLAIN = re.compile(
    r"\s*([0-9a-fA-F]{4,16})((?:\s{1,4}[0-9a-fA-F]{2}(?![0-9a-fA-F]))*)(?:\s{2,}(.*))?"
)
_BASES = (16, 8, 10)


def read_xxd(text: str) -> Bytes | None:
    """Return the bytes of a dump with a colon behind each offset. Raises NearMiss."""
    return _read(text, _XXD, lambda lines: all(line.data for line in lines))


def read_hexdump(text: str) -> Bytes | None:
    """Return the bytes of a dump with the text between bars. Raises NearMiss."""
    return _read(text, _HEXDUMP, lambda lines: any(line.text for line in lines))


def read_offsets(text: str) -> Bytes | None:
    """Return the bytes of a dump of offsets and bytes alone, or with text. Raises NearMiss."""
    return _read(text, _PLAIN, lambda lines: bool(lines[0].data))


def _read(text: str, pattern: re.Pattern[str], fits: Callable[[list[_Line]], bool]) -> Bytes | None:
    found: list[_Line | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if line.strip() == _REPEATED:
            found.append(None)
            continue
        match = pattern.fullmatch(line.rstrip())
        if match is None:
            return None
        data = bytes.fromhex("".join(match[2].split()))
        found.append(_Line(number, match[1], data, match[3] or ""))
    lines = [line for line in found if line is not None]
    if not lines or found[0] is None or not fits(lines):
        return None
    _check_text(lines)
    return Bytes(b"".join(_joined(found, _base(lines))))


def _base(lines: list[_Line]) -> int:
    """The base of the offsets, by the first two."""
    if len(lines) > 1:
        for base in _BASES:
            if _number(lines[1], base) - _number(lines[0], base) == len(lines[0].data):
                return base
    return _BASES[0]


def _joined(found: list[_Line | None], base: int) -> Iterator[bytes]:
    first = next(line for line in found if line is not None)
    at, before, repeats = _number(first, base), b"", False
    for line in found:
        if line is None:
            repeats = True
            continue
        offset = _number(line, base)
        if repeats and before and offset > at and (offset - at) % len(before) == 0:
            yield before * ((offset - at) // len(before))
            at = offset
        if offset != at:
            raise NearMiss(f"line {line.number} of a dump has the offset {line.offset}, not {at:x}")
        yield line.data
        at, before, repeats = at + len(line.data), line.data, False


def _number(line: _Line, base: int) -> int:
    try:
        return int(line.offset, base)
    except ValueError:
        return -1


def _check_text(lines: list[_Line]) -> None:
    for line in lines:
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in line.data)
        if line.text and line.text.strip() != shown.strip():
            raise NearMiss(
                f"line {line.number} of a dump has other bytes than its text "
                f"({line.text[:16]}): make it byte by byte, as xxd or hexdump -C do"
            )
