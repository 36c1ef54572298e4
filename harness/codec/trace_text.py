"""A traced message as readable text: offset, hex and meaning of the bytes, one line per field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.codec.error_code import ErrorCode
from harness.codec.trace import UNREAD, TracedField

if TYPE_CHECKING:
    from harness.codec.data_framing.own_topics import WrittenTo

_HEX_BYTES = 10
_TEXT_CHARACTERS = 100
_HEX_COLUMN = 2 * _HEX_BYTES + 2
_NO_BATCHES = ("unaligned_records",)  # of FetchSnapshot: a slice that begins anywhere
_ERROR_NAMES = {code.value: code.name for code in ErrorCode}


def trace_lines(
    root: TracedField, data: bytes, written_to: WrittenTo | None = None
) -> Iterator[str]:
    """One line a field, nested ones indented; the root itself, a whole message, has none.

    ``written_to``: the topic of the records in it, if Kafka itself wrote them.

    An array, a struct or a section of tags shows only its own bytes: a count, a marker for null.
    """
    for inner in root.inner:
        yield from _lines(inner, data, 0, written_to)


def _lines(
    node: TracedField, data: bytes, depth: int, written_to: WrittenTo | None
) -> Iterator[str]:
    own_stop = node.inner[0].offset if node.inner else node.stop
    yield line(node.offset, data[node.offset : own_stop], depth, _said(node))
    if node.type == "records" and node.name not in _NO_BATCHES and isinstance(node.value, bytes):
        from harness.codec.data_framing.own_topics import ANY_TOPIC
        from harness.codec.records_text import records_lines

        start = node.stop - len(node.value)
        yield from records_lines(data, start, node.stop, depth + 1, written_to or ANY_TOPIC)
    for inner in node.inner:
        yield from _lines(inner, data, depth + 1, written_to)


def line(offset: int | None, raw: bytes, depth: int, said: str) -> str:
    """Return one line of the tree: the offset (if there is one), the bytes, their meaning."""
    shown = raw.hex()
    if len(raw) > _HEX_BYTES:
        shown = raw[:_HEX_BYTES].hex() + ".."
    where = "" if offset is None else offset
    return f"{where:>8}  {shown:<{_HEX_COLUMN}}  {'  ' * depth}{said}"


def _said(node: TracedField) -> str:
    name = f"tag {node.tag}: {node.name}" if node.tag is not None else node.name
    typed = f"{name} {node.type}".rstrip()
    if node.value is UNREAD:
        return typed if node.inner else f"{typed} = not readable"
    if not node.type:  # a section of tags
        return f"{typed} {len(node.inner)}"
    if isinstance(node.value, list):
        return f"{typed}, {len(node.value)} element{'' if len(node.value) == 1 else 's'}"
    if node.inner or node.stop == node.offset:  # a struct
        return typed
    return f"{typed} = {value_text(node.name, node.value)}"


def value_text(name: str, value: Any) -> str:
    """A scalar for people: text quoted and cut, bytes counted, error codes named."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return f"{len(value)} byte{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        is_long = len(quoted) > _TEXT_CHARACTERS
        return f"{quoted[:_TEXT_CHARACTERS]}.. ({len(value)} characters)" if is_long else quoted
    if isinstance(value, bool):
        return "true" if value else "false"
    if name.endswith("error_code") and value in _ERROR_NAMES:
        return f"{value} {_ERROR_NAMES[value]}"
    return str(value)
