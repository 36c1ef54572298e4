"""Events as lines for people, and as objects for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

from harness.capture.events import REQUEST, Captured, Event, Notice, Totals
from harness.codec.dictionary_form import to_dict
from harness.codec.errors import DecodeError
from harness.codec.secret_fields import has_secret, is_secret
from harness.codec.structs import Message, Struct


def line_of(event: Event, *, verbose: bool = False) -> str:
    """One line; with ``verbose`` the decoded body below it."""
    start = f"{_clock(event.time_ns)} #{event.connection.number}"
    if isinstance(event, Notice):
        return f"{start} -- {event.text}"
    sign = "->" if event.direction == REQUEST else "<-"
    words = [start, sign, *_head(event), f"{event.length + 4} bytes"]
    if event.latency_ns is not None:
        words.append(f"{event.latency_ns / 1e6:.3f} ms")
    if not event.answer_expected:
        words.append("no response asked for")
    if event.topics:
        words.append("topics " + ", ".join(event.topics))
    if event.errors:
        words.append("errors " + _counted(event.errors))
    words += _deviations(event)
    line = " ".join(words)
    if verbose and event.message is not None:
        line += f"\n    {_shown(event.message)!r}"
    return line


def _deviations(event: Captured) -> list[str]:
    found = []
    if event.left_over:
        found.append(f"{event.left_over} bytes left over behind the body")
    if event.note:
        found.append(f"read as Kafka reads it: {event.note}")
    if event.problem is not None:
        found.append(f"cannot be decoded: {event.problem}")
    if event.cut:
        found.append(f"not whole: {event.cut}")
    return found


def connection_line(event: Event) -> str:
    """Introduces a connection, before its first event."""
    info = event.connection
    day = datetime.fromtimestamp(event.time_ns / 1e9, UTC).date()
    ends = f"client {info.client}, broker {info.server}"
    on = f", on {info.interface}" if info.interface else ""
    return f"# connection {info.number}: {ends}{on}, {day} UTC"


def _clock(time_ns: int) -> str:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}.{rest // 1000:06d}"


def _head(event: Captured) -> list[str]:
    if event.token:
        return [f"SASL token ({event.direction})"]
    if event.api is None:
        if event.api_key is not None:
            name = f"api key {event.api_key} v{event.version}"
            return [f"{name} {event.direction} id {event.correlation_id}", *_client(event)]
        if event.direction == REQUEST:
            return ["request"]
        return [f"response to a request not captured, correlation id {event.correlation_id}"]
    name = f"{event.api.name} v{event.version}"
    return [f"{name} {event.direction} id {event.correlation_id}", *_client(event)]


def _client(event: Captured) -> list[str]:
    if event.direction != REQUEST or event.client_id is None:
        return []
    return [f"client {event.client_id!r}"]


def _counted(names: Counter[str]) -> str:
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in names.items())


def object_of(event: Event, *, verbose: bool = False) -> dict[str, Any]:
    """For JSON. ``bytes``: on the wire, the four of the length included."""
    info = event.connection
    common: dict[str, Any] = {
        "time": f"{datetime.fromtimestamp(event.time_ns // 1_000_000_000, UTC):%Y-%m-%dT%H:%M:%S}"
        f".{event.time_ns % 1_000_000_000:09d}Z",
        "connection": info.number,
        "client": str(info.client),
        "broker": str(info.server),
        "interface": info.interface or None,
    }
    if isinstance(event, Notice):
        return {"type": event.kind, **common, "text": event.text, "count": event.count}
    found = {
        "type": "token" if event.token else event.direction,
        **common,
        "direction": event.direction,
        "api": event.api.name if event.api else None,
        "api_key": event.api_key,
        "version": event.version,
        "correlation_id": event.correlation_id,
        "client_id": event.client_id,
        "bytes": event.length + 4,
        "topics": list(event.topics),
        "errors": dict(event.errors),
        "left_over": event.left_over,
        "note": event.note or None,
        "not_whole": event.cut or None,
        "problem": _problem(event.problem),
    }
    if event.direction == REQUEST:
        found["answer_expected"] = event.answer_expected
    else:
        latency = event.latency_ns
        found["latency_ms"] = None if latency is None else latency / 1e6
        if event.api is None and not event.token:
            found["hex"] = event.payload.hex()
    if verbose:
        found["value"] = _value(event.message, event.version)
    return found


def _problem(problem: Exception | None) -> dict[str, Any] | None:
    if problem is None:
        return None
    field, offset = None, None
    if isinstance(problem, DecodeError):
        field, offset = problem.path, problem.offset
    kind = type(problem).__name__
    return {"type": kind, "message": str(problem), "field": field, "offset": offset}


def _value(message: Message | None, version: int | None) -> dict[str, Any] | None:
    if message is None or version is None:
        return None
    return to_dict(_shown(message), version)


def _shown(message: Message) -> Message:
    """The message, without what is secret."""
    return cast("Message", _masked(message)) if has_secret(message) else message


def _masked(value: Any) -> Any:
    """A copy of a struct or of a list of them, with the lengths of secrets in their place."""
    if isinstance(value, list):
        return [_masked(each) for each in value]
    if not isinstance(value, Struct):
        return value
    values = {
        field.name: _length_of(getattr(value, field.name))
        if is_secret(value, field.name)
        else _masked(getattr(value, field.name))
        for field in value.spec.fields
    }
    return type(value)(**values, unknown_tagged_fields=value.unknown_tagged_fields)


def _length_of(secret: bytes | str) -> bytes | str:
    if isinstance(secret, str):
        return f"({len(secret)} characters, not shown)"
    return b"(%d bytes, not shown)" % len(secret)


def totals_object(totals: Totals, packets: Mapping[str, int]) -> dict[str, Any]:
    """The last object of a capture."""
    return {"type": "totals", **asdict(totals), "packets": dict(packets)}


def totals_line(totals: Totals, packets: Mapping[str, int]) -> str:
    """The last line of a capture; what is zero is left out, but for the first three."""
    rest = {
        "SASL tokens": totals.tokens,
        "unanswered": totals.unanswered,
        "responses without their request": totals.unmatched,
        "undecodable": totals.undecodable,
        "with bytes left over behind the body": totals.with_left_over,
        "one-sided connections": totals.one_sided_connections,
        "bytes lost": totals.lost_bytes,
        "bytes passed over": totals.skipped_bytes,
        "encrypted connections": totals.encrypted_connections,
        "other connections": totals.other_connections,
        **{f"packets {kind}": n for kind, n in packets.items() if kind != "packets"},
    }
    words = [
        f"{totals.connections} connections",
        f"{totals.requests} requests",
        f"{totals.responses} responses",
        *(f"{number} {name}" for name, number in rest.items() if number),
    ]
    return "# " + ", ".join(words)
