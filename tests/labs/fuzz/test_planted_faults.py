"""Faults that are planted are noticed by the checks of a target: they can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.codec.interpreter_decode import FieldReader
from harness.codec.records.columns import BadColumnRecord
from labs.fuzz.corpus import failed_inputs, seed_inputs
from labs.fuzz.targets import load_target


def _text_lost(reader: FieldReader, length: int) -> str:
    reader.take(length)
    return ""


def _untyped(*_: Any, **__: Any) -> Any:
    raise IndexError("index out of range")


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _always_bad(*_: Any, **__: Any) -> Any:
    raise BadColumnRecord(0, 0, "planted")


# Target, what is replaced, by what, and what the check then says.
PLANTED: list[tuple[str, str, Callable[..., Any], str | None]] = [
    ("messages", "harness.codec.interpreter_decode.FieldReader.text", _text_lost, "interpreted"),
    ("messages", "labs.fuzz.targets.messages.trace", _untyped, "index out of range"),
    ("messages", "labs.fuzz.targets.messages.decode_prefix", _untyped, "index out of range"),
    ("records", "labs.fuzz.targets.records.read_columns", _always_bad, "at once: .*planted"),
    ("records", "labs.fuzz.targets.records.read_records", _untyped, "index out of range"),
    ("records", "labs.fuzz.targets.records.records_bytes", lambda _: b"", None),
    ("decompress", "labs.fuzz.targets.decompress.decompress", lambda *_: bytes(1 << 21), None),
    ("transcode", "labs.fuzz.targets.transcode.transcode_line", lambda _: b"{}\n", None),
    (
        "capture",
        "harness.capture.connection.CapturedConnection.feed",
        _untyped,
        "index out of range",
    ),
    ("proxies", "harness.proxies.frames.FrameFinder._collect", _untyped, "index out of range"),
    ("proxies", "harness.proxies.rules.rule_set.FrameView", _untyped, "index out of range"),
    ("proxies", "harness.proxies.frames.FrameFinder.end", _nothing, None),
    ("proxies", "harness.proxies.stream.Stream._must_pause", lambda _: False, None),
    ("proxies", "harness.proxies.requests.RequestWatch.lean_on", _nothing, "are held"),
    ("proxies", "harness.proxies.deferred_frames.DeferredFrames.drop", _nothing, "timers are left"),
    ("proxies", "harness.proxies.watching.FrameWatch._pass_unparsed", _nothing, None),
    ("proxies", "harness.proxies.responses.frame", lambda payload: bytes(4) + payload, " is "),
    ("proxies", "harness.proxies.connection.ProxiedConnection.told_end", _nothing, "stays open"),
]


@pytest.mark.rotates(8)
@pytest.mark.parametrize(
    ("name", "what", "fault", "told"), PLANTED, ids=[row[1] for row in PLANTED]
)
def test_target_check_detects_planted_fault(
    name: str,
    what: str,
    fault: Callable[..., Any],
    told: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check = load_target(name).check
    monkeypatch.setattr(what, fault)
    with pytest.raises((AssertionError, IndexError), match=told):
        _check_all(name, check)


def _check_all(name: str, check: Callable[[bytes], None]) -> None:
    for _, data in (*seed_inputs(name), *failed_inputs(name)):
        check(data)
