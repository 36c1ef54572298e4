"""One JSON line in, one JSON line out: bytes are decoded, shown and encoded again.

In: ``{"kind": "request" | "response", "api_key", "version", "hex"}`` (a body without header),
``{"kind": "request_header" | "response_header", "version", "hex"}``,
``{"kind": "data", "name", "version", "hex"}``, ``{"kind": "records", "hex"}``; ``"release"``
selects what an older release spoke under the same version. Other keys are not looked at.

Out: ``{"hex", "value"}``, the value in the form of ``dictionary_form``, of records in that of
``records.value_form``; or ``{"error": {"type", "message", "field", "offset"}}``, field and offset
null where the error has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.codec.apis import api_for_key
from harness.codec.dictionary_form import to_dict
from harness.codec.errors import CodecError
from harness.codec.message_codec import decode, encode
from harness.codec.messages import message_class, message_names
from harness.codec.specs import INT_RANGES
from harness.codec.structs import Message


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_read = json.JSONDecoder(parse_constant=_no_constant).decode
_write = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_SHOWN_CHARACTERS = 60
_INT16 = INT_RANGES["int16"]


class BadLineError(CodecError):
    """A line that asks for nothing that can be done; ``field`` is the key that is wrong."""

    def __init__(self, problem: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(f"{field}: {problem}" if field else problem)


def transcode_line(line: bytes) -> bytes:
    """The answer to one line, without a line end. Never raises, whatever the line holds."""
    try:
        answer = transcode(_parsed(line))
    except Exception as error:  # noqa: BLE001  # one bad line must not take the others with it
        answer = {"error": error_form(error)}
    return _write(answer).encode()


def transcode(asked: Mapping[str, Any]) -> dict[str, Any]:
    """``{"hex", "value"}``. Raises BadLineError and every CodecError that the bytes deserve."""
    kind = _of_type(asked, "kind", str)
    if kind not in _KINDS:
        raise BadLineError(f"{_cut(kind)} is none of {', '.join(_KINDS)}", "kind")
    return _KINDS[kind](asked, _raw(asked))


def error_form(error: Exception) -> dict[str, Any]:
    """Type, message, field and offset of an error; the last two null where it has none."""
    field = getattr(error, "path", None)
    if field is None:
        field = getattr(error, "field", None)
    return {
        "type": type(error).__name__,
        "message": str(error),
        "field": field,
        "offset": getattr(error, "offset", None),
    }


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        asked = _read(line.decode())
    except RecursionError as error:
        raise BadLineError("not JSON: nested too deeply") from error
    except ValueError as error:  # also of bytes that are no UTF-8, and of endless numbers
        raise BadLineError(f"not JSON: {error}") from error
    if not isinstance(asked, dict):
        raise BadLineError(f"a JSON object expected, not {type(asked).__name__}")
    return asked


def _of_type(asked: Mapping[str, Any], key: str, wanted: type) -> Any:
    if key not in asked:
        raise BadLineError("is missing", key)
    value = asked[key]
    if type(value) is not wanted:
        raise BadLineError(f"{wanted.__name__} expected, not {type(value).__name__}", key)
    return value


def _integer(asked: Mapping[str, Any], key: str) -> int:
    value: int = _of_type(asked, key, int)
    if not _INT16[0] <= value <= _INT16[1]:
        raise BadLineError("outside int16", key)
    return value


def _raw(asked: Mapping[str, Any]) -> bytes:
    digits = _of_type(asked, "hex", str)
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise BadLineError(f"not hex digits: {error}", "hex") from error


def _class(asked: Mapping[str, Any], name: str) -> type[Message]:
    release = asked.get("release")
    if release is None:
        return message_class(name)
    _of_type(asked, "release", str)
    try:
        return message_class(name, release)
    except ValueError as error:
        raise BadLineError(f"{_cut(release)} is no release, such as 2.7.2", "release") from error


def _both_ways(asked: Mapping[str, Any], name: str, raw: bytes) -> dict[str, Any]:
    version = _integer(asked, "version")
    message = decode(_class(asked, name), version, raw)
    return {"hex": encode(message, version).hex(), "value": to_dict(message, version)}


def _request(asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    return _both_ways(asked, f"{_api_name(asked)}Request", raw)


def _response(asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    return _both_ways(asked, f"{_api_name(asked)}Response", raw)


def _api_name(asked: Mapping[str, Any]) -> str:
    return api_for_key(_integer(asked, "api_key")).name


def _request_header(asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    return _both_ways(asked, "RequestHeader", raw)


def _response_header(asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    return _both_ways(asked, "ResponseHeader", raw)


def _data(asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    name = _of_type(asked, "name", str)
    if name not in message_names():
        raise BadLineError(f"no schema is called {_cut(name)}", "name")
    return _both_ways(asked, name, raw)


def _records(_asked: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    from harness.codec.records.value_form import records_bytes, records_value

    value = records_value(raw)
    return {"hex": records_bytes(value).hex(), "value": value}


_KINDS: dict[str, Callable[[Mapping[str, Any], bytes], dict[str, Any]]] = {
    "request": _request,
    "response": _response,
    "request_header": _request_header,
    "response_header": _response_header,
    "data": _data,
    "records": _records,
}


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
