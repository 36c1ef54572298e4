"""The content of an input: the faults, then the actions of client, broker and time, in order.

Six bytes: the mode, the limits and how eager the peers are, three for the rules, the seed. Then one
byte for each action, two for a number, and for an action that sends, as many bytes as the number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

HEAD = struct.Struct(">BBHBB")
OP = struct.Struct(">BH")
MOST_SENT = 2048
PLAIN, REWRITING, RULES, BOTH = range(4)


class ScriptKind(IntEnum):
    """Actions."""

    CLIENT_SENDS = 0
    BROKER_SENDS = 1
    CLIENT_TAKES = 2  # so many bytes more
    BROKER_TAKES = 3
    PASSES = 4  # so many milliseconds
    CLIENT_ENDS = 5
    BROKER_ENDS = 6
    CLIENT_RESETS = 7
    BROKER_RESETS = 8
    CUT = 9
    HEAL = 10
    TOXIC = 11
    NO_TOXIC = 12
    RELEASE = 13
    DIALLED = 14  # the broker was reached, or not
    PROXY = 15  # something is done to the whole proxy


SENDING = (ScriptKind.CLIENT_SENDS, ScriptKind.BROKER_SENDS)


class Op(NamedTuple):
    kind: ScriptKind
    number: int = 0
    data: bytes = b""

    def written(self) -> bytes:
        number = len(self.data) if self.kind in SENDING else self.number
        return OP.pack(self.kind, number) + self.data


class Script(NamedTuple):
    """``options``: the limits by number, and two flags, see the properties."""

    mode: int
    options: int
    rules: int  # a bit for each
    toxics: int
    seed: int
    ops: tuple[Op, ...]

    @property
    def limits(self) -> int:
        return self.options & 3

    @property
    def is_dialled_by_hand(self) -> bool:
        return bool(self.options & 4)

    @property
    def is_eager(self) -> bool:
        """Peers read whatever comes."""
        return not self.options & 8

    @property
    def rewrites(self) -> bool:
        return self.mode in (REWRITING, BOTH)

    @property
    def has_rules(self) -> bool:
        return self.mode in (RULES, BOTH)

    def written(self) -> bytes:
        head = HEAD.pack(self.mode, self.options, self.rules, self.toxics, self.seed)
        return head + b"".join(op.written() for op in self.ops)


def read_script(data: bytes) -> Script | None:
    """Any bytes are one, if there are enough for its head."""
    if len(data) < HEAD.size:
        return None
    mode, options, rules, toxics, seed = HEAD.unpack_from(data)
    return Script(mode % 4, options, rules, toxics, seed, tuple(_ops(data, HEAD.size)))


def _ops(data: bytes, at: int) -> Iterator[Op]:
    while at + OP.size <= len(data):
        kind, number = OP.unpack_from(data, at)
        at += OP.size
        kind = ScriptKind(kind % len(ScriptKind))
        sent = b""
        if kind in SENDING:
            sent = data[at : at + number % MOST_SENT]
            at += len(sent)
        yield Op(kind, number, sent)


def script(mode: int, ops: Iterable[Op], **settings: int) -> Script:
    """Return a script, by default without rules and options."""
    given = {"options": 0, "rules": 0, "toxics": 0, "seed": 0} | settings
    return Script(mode, given["options"], given["rules"], given["toxics"], given["seed"],
                  tuple(ops))  # fmt: skip
