"""Records as JSON: bytes that are UTF-8 are text, others ``{"hex": "00ff"}``, none are null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.codec.records import Header
from harness.codec.records.log_records import LogRecord

IGNORED = frozenset({"topic", "offset", "timestamp_type"})
"""Fields of a record that was read: the broker decides them for the one that is written."""
FIELDS = frozenset({"key", "value", "headers", "timestamp", "partition"})


class NotARecord(ValueError):
    """The JSON is no record; the text names the field."""


@dataclass(frozen=True, slots=True)
class GivenRecord:
    """A record to be written; None of the last two: the command decides."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    timestamp: int | None = None
    partition: int | None = None


def as_json(topic: str, partition: int, record: LogRecord) -> dict[str, Any]:
    """The form of a record that was read."""
    return {
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": record.timestamp_type,
        "key": _shown(record.key),
        "value": _shown(record.value),
        "headers": [[header.key, _shown(header.value)] for header in record.headers],
    }


def from_json(values: Any) -> GivenRecord:
    """The record of such a form, in which every field may be missing. Raises NotARecord."""
    if not isinstance(values, Mapping):
        raise NotARecord("a record is a JSON object")
    unknown = sorted(set(values) - FIELDS - IGNORED)
    if unknown:
        raise NotARecord(f"unknown field {unknown[0]!r}; a record has {', '.join(sorted(FIELDS))}")
    return GivenRecord(
        _read(values.get("value"), "value"),
        _read(values.get("key"), "key"),
        _headers(values.get("headers", [])),
        _number(values.get("timestamp"), "timestamp"),
        _number(values.get("partition"), "partition"),
    )


def _shown(data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return bytes(data).decode("utf-8")
    except UnicodeDecodeError:
        return {"hex": bytes(data).hex()}


def _read(value: Any, name: str) -> bytes | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode("utf-8", "surrogatepass")
    try:
        if isinstance(value, Mapping) and set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
    except (TypeError, ValueError) as problem:
        raise NotARecord(f"{name}: no hex digits: {value['hex']!r}") from problem
    raise NotARecord(f'{name} is text, null or {{"hex": "00ff"}}, not {value!r}')


def _headers(values: Any) -> tuple[Header, ...]:
    form = 'headers are a list of pairs, such as [["name", "value"]]'
    if not isinstance(values, list):
        raise NotARecord(form)
    made = []
    for pair in values:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise NotARecord(form)
        made.append(Header(pair[0], _read(pair[1], f"header {pair[0]!r}")))
    return tuple(made)


def _number(value: Any, name: str) -> int | None:
    if value is not None and type(value) is not int:
        raise NotARecord(f"{name} is an integer, not {value!r}")
    return value
