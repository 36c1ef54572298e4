"""Java's properties files, with the line of each entry.

Source: java.util.Properties, method load. A logical line ends at a line end that no backslash
escapes; ``#`` and ``!`` begin a comment; ``=``, ``:`` or white space ends the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.security.errors import SecurityError

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_HEX_AFTER_U = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Property:
    """One entry; ``line`` is that of its first character. The value may be a secret."""

    key: str
    value: str
    line: int

    def __repr__(self) -> str:
        return f"Property({self.key!r}, line={self.line})"


def read_properties(path: Path) -> list[Property]:
    """Return the entries of a UTF-8 file in order. Raises SecurityError: file, line, problem."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as problem:
        raise SecurityError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise SecurityError(f"{path}: is not UTF-8: byte {problem.start}") from problem
    return list(parse_properties(text, str(path)))


def parse_properties(text: str, name: str) -> Iterator[Property]:
    """Yield the entries in order. Raises SecurityError, with ``name`` as the file."""
    for line, logical in _logical_lines(text):
        if _HEX_AFTER_U.search(logical):
            raise SecurityError(f"{name}:{line}: a \\u without four hexadecimal digits")
        key = _KEY.match(logical)
        assert key is not None, "the expression matches the empty text"
        separator = _SEPARATOR.match(logical, key.end())
        assert separator is not None, "the expression matches the empty text"
        yield Property(_unescaped(key[0]), _unescaped(logical[separator.end() :]), line)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each logical line that is no comment and not blank, with its number."""
    lines = re.split(r"\r\n|\n|\r", text)
    number = 0
    while number < len(lines):
        begun, logical = number + 1, lines[number].lstrip(_BLANK)
        number += 1
        if not logical or logical[0] in "#!":
            continue
        while _goes_on(logical):
            logical = logical[:-1]
            if number == len(lines):
                break
            logical += lines[number].lstrip(_BLANK)
            number += 1
        yield begun, logical


def _goes_on(line: str) -> bool:
    """True if an odd number of backslashes ends the line: the last one escapes its end."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _ESCAPES.get(escaped, escaped)
