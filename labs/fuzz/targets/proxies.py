"""A proxied connection: any bytes on both sides, in any pieces, with rules, toxics and rewriting.

An input is a script, see ``labs.fuzz.proxied.script``.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from itertools import islice

from harness.capture.events import REQUEST
from labs.captures.recorded import SMALL, follow, messages, port_of, segments
from labs.fuzz.memory import check_memory, sampled
from labs.fuzz.proxied.expected import check_end, check_moment
from labs.fuzz.proxied.play import Play
from labs.fuzz.proxied.script import (
    BOTH,
    HEAD,
    MOST_SENT,
    OP,
    PLAIN,
    REWRITING,
    RULES,
    SENDING,
    Op,
    Script,
    ScriptKind,
    read_script,
    script,
)
from labs.fuzz.targets.messages import HOSTILE

RULE_BITS, TOXIC_BITS = 16, 8
WITHOUT_A_RULE, WITH_RULES = (PLAIN, REWRITING), (RULES, BOTH)
FLOODED_RULES = (0, 1 << 1, 1 << 2, 1 << 4, 1 << 5, 1 << 7, 1 << 12, 1 << 13, 1 << 15)
API_VERSIONS, UNKNOWN = 18, 999
_LENGTH = struct.Struct(">i")
_MEASURED = 128  # one input in so many
_CONNECTION_BYTES = 2 * 1024 * 1024
_MOST_FRAME = 500
_MOST_INPUT = 6000
_EACH = 12  # frames of a recorded conversation


def check(data: bytes) -> None:
    """Nothing is raised, nothing lost, no more held than the limits say; all is counted."""
    found = read_script(data)
    if found is None:
        return
    play = Play(found, check_moment)
    play.run()
    check_end(play)
    if sampled(data, _MEASURED):
        check_memory(Play(found, lambda _: None).run, len(data), _CONNECTION_BYTES)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Conversations of real clients with a real Kafka, under each mode and each fault."""
    told = [one for file in SMALL for one in _conversations(file.stem)]
    for number, (name, ops) in enumerate(told):
        mode = number % 4
        options = number // 4 % 4
        yield f"{name}-{mode}-{options}", _made(mode, ops, options=options)
        yield f"{name}-cut", _made(mode, _in_pieces(ops, 7), options=options)
    _, ops = max(told, key=lambda one: len(one[1]))
    for bit in range(RULE_BITS):
        mode = WITH_RULES[bit % 2]
        yield f"rule-{bit}", _made(mode, ops, rules=1 << bit)
        yield f"rules-{bit}", _made(mode, ops, rules=0b11 << bit & 0xFFFF, options=8 | bit % 4)
    for bit in range(TOXIC_BITS):
        yield f"toxic-{bit}", _made(WITHOUT_A_RULE[bit % 2], ops, toxics=1 << bit)
    yield from _endings(ops)
    yield from _floods()


def _floods() -> Iterator[tuple[str, bytes]]:
    """Much that is small, to peers that read nothing; and requests behind one that waits."""
    small = {"empty-frames": b"\0\0\0\0" * 400, "half-frames": b"\0\0\1\0" * 200}
    small["requests"] = b"".join(_request(API_VERSIONS, number) for number in range(140))
    small["behind-another"] = _request(UNKNOWN, 0) + small["requests"]
    for name, data in small.items():
        for number, rule in enumerate(FLOODED_RULES):
            ops = [Op(kind, 0, data) for kind in SENDING]
            settings = {"rules": rule, "toxics": number % 4, "options": 8 * (number % 2)}
            yield f"{name}-{number}", _made((RULES, PLAIN)[rule == 0], ops * 2, **settings)
    bytewise = [Op(ScriptKind.CLIENT_SENDS, 0, bytes([number])) for number in range(256)]
    yield "bytewise", _made(PLAIN, bytewise, toxics=1)


def _request(key: int, correlation_id: int) -> bytes:
    """Of version 1, with no client id and nothing behind it."""
    return _LENGTH.pack(10) + struct.pack(">hhih", key, 1, correlation_id, -1)


def _endings(ops: list[Op]) -> Iterator[tuple[str, bytes]]:
    half = len(ops) // 2
    for kind in ScriptKind:
        if kind not in SENDING:
            for number in (0, 1):
                steps = [*ops[:half], Op(kind, number), *ops[half:], Op(ScriptKind.PASSES, 500)]
                yield f"{kind.name}-{number}", _made(number, steps, options=4 | number)
                aside = _made(RULES + number, steps, rules=1 << 2 | 1 << 5 | 1 << 7)
                yield f"{kind.name}-{number}-held", aside
    bad = Op(ScriptKind.CLIENT_SENDS, 0, b"\xff\xff\xff\xff and what is behind it")
    for mode in range(4):
        yield f"bad-length-{mode}", _made(mode, [*ops[:4], bad, *ops[4:]])
        back = bad._replace(kind=ScriptKind.BROKER_SENDS)
        yield f"bad-length-back-{mode}", _made(mode, [*ops[:3], back, *ops[3:]])


def _conversations(name: str) -> Iterator[tuple[str, list[Op]]]:
    """By connection, the small frames of a recording."""
    (file,) = [one for one in SMALL if one.stem == name]
    by_connection: dict[object, list[Op]] = {}
    for event in messages(follow(segments(file), port_of(file))[0]):
        if event.cut or len(event.payload) > _MOST_FRAME:
            continue
        kind = ScriptKind.CLIENT_SENDS if event.direction == REQUEST else ScriptKind.BROKER_SENDS
        data = _LENGTH.pack(len(event.payload)) + event.payload
        by_connection.setdefault(event.connection.client, []).append(Op(kind, 0, data))
    for number, ops in enumerate(islice(by_connection.values(), 3)):
        yield f"{name}-{number}", ops[:_EACH]


def _made(mode: int, ops: list[Op], **settings: int) -> bytes:
    return script(mode, ops, **settings).written()[:_MOST_INPUT]


def _in_pieces(ops: list[Op], size: int) -> list[Op]:
    """The same bytes, cut where no frame ends."""
    return [
        op._replace(data=op.data[at : at + size * (1 + at % 3)])
        for op in ops
        for at in _starts(len(op.data), size)
    ]


def _starts(length: int, size: int) -> Iterator[int]:
    at = 0
    while at < length:
        yield at
        at += size * (1 + at % 3)


# -- changes that random bytes would hardly make ---------------------------------------------------


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One step is put in, taken out, doubled, cut in two or changed; or other faults are chosen."""
    found = read_script(data)
    if found is None:
        return data
    ops = list(found.ops)
    if not ops or chance.random() < 0.2:
        return _other_faults(found, chance).written()
    at = chance.randrange(len(ops))
    how = chance.choice((_put_in, _put_in, _take_out, _double, _cut_in_two, _change, _merge))
    how(ops, at, chance)
    return found._replace(ops=tuple(ops)).written()


def _other_faults(found: Script, chance: random.Random) -> Script:
    how = chance.randrange(4)
    if how == 0:
        return found._replace(mode=chance.randrange(4))
    if how == 1:
        return found._replace(options=chance.randrange(16))
    if how == 2:
        return found._replace(rules=found.rules ^ 1 << chance.randrange(RULE_BITS))
    return found._replace(toxics=found.toxics ^ 1 << chance.randrange(TOXIC_BITS))


def _put_in(ops: list[Op], at: int, chance: random.Random) -> None:
    kind = ScriptKind(chance.randrange(2, len(ScriptKind)))
    ops.insert(at, Op(kind, chance.choice((0, 1, 2, 3, 30, 64, 200, 1000))))


def _take_out(ops: list[Op], at: int, chance: random.Random) -> None:
    del ops[at]


def _double(ops: list[Op], at: int, chance: random.Random) -> None:
    ops[at:at] = ops[at : at + chance.choice((1, 1, 2, 4))] * chance.choice((1, 1, 8))


def _cut_in_two(ops: list[Op], at: int, chance: random.Random) -> None:
    data = ops[at].data
    if len(data) > 1:
        place = chance.randrange(1, len(data))
        ops[at : at + 1] = [ops[at]._replace(data=part) for part in (data[:place], data[place:])]


def _merge(ops: list[Op], at: int, chance: random.Random) -> None:
    """With the next that goes the same way, which comes before what is between then."""
    for other in range(at + 1, len(ops)):
        if ops[other].kind is ops[at].kind:
            ops[at] = ops[at]._replace(data=(ops[at].data + ops.pop(other).data)[: MOST_SENT - 1])
            return


def _change(ops: list[Op], at: int, chance: random.Random) -> None:
    op = ops[at]
    if not op.data:
        ops[at] = op._replace(number=chance.randrange(1 << 16))
        return
    made = bytearray(op.data)
    wrong = chance.choice(HOSTILE)
    place = chance.choice((0, chance.randrange(len(made))))
    made[place : place + len(wrong)] = wrong
    ops[at] = op._replace(data=bytes(made[: MOST_SENT - 1]))


def repaired(data: bytes, chance: random.Random) -> bytes:
    """Lengths are made right again, in four of five: a step that looked like a whole frame is."""
    found = read_script(data)
    if found is None or chance.random() < 0.2:
        return data
    return found._replace(ops=tuple(map(_whole, found.ops))).written()


def _whole(op: Op) -> Op:
    if op.kind not in SENDING or len(op.data) < HEAD.size + OP.size:
        return op
    (length,) = _LENGTH.unpack_from(op.data)
    missing = length - (len(op.data) - _LENGTH.size)
    if missing == 0 or abs(missing) > len(HOSTILE[0]) + 4:
        return op
    return op._replace(data=_LENGTH.pack(len(op.data) - _LENGTH.size) + op.data[_LENGTH.size :])
