"""Symbols in a conversation, and the values that stand for them at one broker.

- ``$name...``: begins with the prefix of the conversation, which nothing else has;
- ``$time:N``: N ms after a time that is the same for both brokers;
- ``$KIND:N``: the id of this kind that the broker's answers showed as the N-th, counted from 0;
- ``$producer_epoch:N``: the epoch that the broker gave to ``$producer_id:N`` last;
- ``{"$records": [...], "damage": ...}``: batches as ``harness.codec.records.value_form`` has them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.codec.records.value_form import records_bytes

NAME, TIME, RECORDS, DAMAGE = "$name", "$time", "$records", "damage"
TIME_SPAN_MS = 1_000
NOBODYS_UUID = "7fffffff-0000-4000-8000-00000000dead"
NOBODYS_NUMBER = 1 << 40
UNKNOWN: Mapping[str, Any] = {
    "topic_id": NOBODYS_UUID,
    "producer_id": NOBODYS_NUMBER,
    "member_id": "nobody",
    "session_id": 1 << 30,
}
"""Values for ids of the kinds that symbols can refer to, used until an answer has contained one."""
PRODUCER_EPOCH = "producer_epoch"
_ID = re.compile(r"\$(\w+):(-?\d+)")
_CRC_AT, _LENGTH = 17, struct.Struct(">qi")


@dataclass(slots=True)
class Bindings:
    """The values of one conversation's symbols at one broker.

    Attributes:
        prefix: begins all names.
        base_ms: the time that ``$time:0`` is.
        ids: by kind, in order of appearance in the answers.
        epochs: the newest one of each producer, by the producer's number.
        said: every text that requests have contained so far.
    """

    prefix: str
    base_ms: int
    ids: dict[str, list[Any]] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)

    def symbol_of(self, kind: str, value: Any) -> str:
        """Return the symbol of an id; a new id gets the next number."""
        known = self.ids.setdefault(kind, [])
        if value not in known:
            known.append(value)
        return f"${kind}:{known.index(value)}"

    def note_epoch(self, producer_id: int, epoch: int) -> None:
        """Take the epoch that an answer gives to a producer it has just shown."""
        known = self.ids.get("producer_id", [])
        if producer_id in known:
            self.epochs[known.index(producer_id)] = epoch

    def value_of(self, kind: str, number: int) -> Any:
        """Return the value of a symbol: a time, an epoch, or one of :data:`UNKNOWN`'s kinds."""
        if kind == "time":
            return self.base_ms + number
        if kind == PRODUCER_EPOCH:
            return self.epochs.get(number, 0)
        known = self.ids.get(kind, [])
        return known[number] if 0 <= number < len(known) else UNKNOWN[kind]

    def filled(self, value: Any) -> Any:
        """Return a step's fields with values in place of symbols: the dictionary form."""
        if isinstance(value, Mapping):
            if RECORDS in value:
                return _records(self.filled(value[RECORDS]), value.get(DAMAGE)).hex()
            return {key: self.filled(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.filled(inner) for inner in value]
        if isinstance(value, str):
            return self._text(value)
        return value

    def _text(self, value: str) -> Any:
        match = _ID.fullmatch(value)
        if match and (match[1] in ("time", PRODUCER_EPOCH) or match[1] in UNKNOWN):
            return self.value_of(match[1], int(match[2]))
        filled = value.replace(NAME, self.prefix)
        self.said.add(filled)
        return filled


def _records(batches: Any, damage: str | None) -> bytes:
    return DAMAGES[damage](records_bytes(batches))


def _with_wrong_crc(data: bytes) -> bytes:
    return data[:_CRC_AT] + bytes([data[_CRC_AT] ^ 1]) + data[_CRC_AT + 1 :]


def _with_length(data: bytes, change: int) -> bytes:
    offset, length = _LENGTH.unpack_from(data)
    return _LENGTH.pack(offset, length + change) + data[_LENGTH.size :]


DAMAGES: Mapping[str | None, Callable[[bytes], bytes]] = {
    None: lambda data: data,
    "crc": _with_wrong_crc,
    "cut": lambda data: data[:-1],
    "longer": lambda data: _with_length(data, 1),
    "one byte more": lambda data: data + b"\0",
    "empty": lambda _: b"",
}
"""Changes of the batches' bytes, by name."""
