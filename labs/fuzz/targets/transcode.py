"""Lines for ``codec transcode``: any bytes, and JSON with changed hex digits."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from harness.codec import CodecError, encode
from harness.codec.apis import APIS
from harness.codec.messages import message_class, message_names
from harness.codec.transcode import transcode_line
from labs.fuzz.targets.messages import HOSTILE
from labs.message_values.values import rich

NAMES = ("request", "response", "request_header", "response_header", "data", "records")


def check(data: bytes) -> None:
    """Assert that one line of JSON is returned, that encoding is stable, and that errors are our
    own.
    """
    answer = json.loads(_line(data))
    if "error" in answer:
        assert set(answer) == {"error"}
        assert set(answer["error"]) == {"type", "message", "field", "offset"}
        assert answer["error"]["type"] in _error_names(), answer
        return
    assert set(answer) == {"hex", "value"}
    again = {**json.loads(data), "hex": answer["hex"]}
    assert json.loads(_line(json.dumps(again).encode())) == answer


def _line(data: bytes) -> bytes:
    made = transcode_line(data)
    assert b"\n" not in made
    return made


def _error_names(cls: type[Exception] = CodecError) -> set[str]:
    inner = (_error_names(one) for one in cls.__subclasses__())
    return {cls.__name__}.union(*inner)


def seeds() -> Iterator[tuple[str, bytes]]:
    """A line of each kind for some messages, and lines that ask for nothing."""
    for api in list(APIS.values())[::6]:
        for kind, cls in (("request", api.request), ("response", api.response)):
            version = cls.message_spec.valid.highest
            raw = encode(rich(cls, version), version)
            yield f"{kind}-{api.name}", _asked(kind, raw, api_key=api.key, version=version)
    for kind, name in (("request_header", "RequestHeader"), ("response_header", "ResponseHeader")):
        cls = message_class(name)
        for version in cls.message_spec.valid:
            raw = encode(rich(cls, version), version)
            yield f"{kind}-{version}", _asked(kind, raw, version=version)
    others = [n for n in message_names() if message_class(n).message_spec.api_key is None]
    for name in others[::6]:
        cls = message_class(name)
        version = cls.message_spec.valid.lowest
        raw = encode(rich(cls, version), version)
        yield f"data-{name}", _asked("data", raw, name=name, version=version)
    yield "release", _asked("data", b"", name="LeaderChangeMessage", version=0, release="2.7")
    yield "records", _asked("records", bytes(61))
    for number, line in enumerate((b"", b"{}", b"[1]", b"nul", b'{"kind": 1e999}', b"\xff")):
        yield f"no-line-{number}", line


def _asked(kind: str, raw: bytes, **others: Any) -> bytes:
    return json.dumps({"kind": kind, **others, "hex": raw.hex()}).encode()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Another version or kind, or bytes changed behind their hex digits."""
    try:
        asked = json.loads(data)
        raw = bytearray.fromhex(asked["hex"])
        how = chance.randrange(4)
        if how == 0:
            asked["version"] = chance.randrange(-1, 20)
        elif how == 1:
            asked[chance.choice(("kind", "name", "release"))] = chance.choice((*NAMES, "2.7", ""))
        else:
            at = chance.randrange(len(raw) + 1)
            raw[at : at + chance.randrange(3)] = chance.choice(HOSTILE)
            asked["hex"] = raw.hex()
    except (ValueError, TypeError, KeyError, RecursionError):
        return data
    return json.dumps(asked).encode()


def repaired(data: bytes, chance: random.Random) -> bytes:
    """As it is."""
    return data
