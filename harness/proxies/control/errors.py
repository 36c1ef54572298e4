"""The errors of the API: toxiproxy's text and status, then the detail."""

from __future__ import annotations

from typing import Any

from harness.proxies.toxics.attributes import BadAttribute
from harness.proxies.toxics.collection import NoSuchToxic, ToxicExists
from harness.proxies.toxics.named import BadStream
from harness.proxies.toxics.types import UnknownToxicType


class Refused(Exception):
    """A refused request, which changes nothing, with toxiproxy's text and status for it."""

    words, status = "internal error", 500

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.words}: {detail}" if detail else self.words)

    def to_json(self) -> dict[str, Any]:
        return {"error": str(self), "status": self.status}


class BadBody(Refused):
    words, status = "bad request body", 400


class MissingField(Refused):
    words, status = "missing required field", 400


class NoSuchProxy(Refused):
    words, status = "proxy not found", 404


class ProxyExists(Refused):
    words, status = "proxy already exists", 409


class CannotListen(Refused):
    words, status = "cannot listen", 500


class NoSuchPath(Refused):
    words, status = "no such path", 404


class NoSuchMethod(Refused):
    words, status = "method not allowed", 405


class NoSuchRule(Refused):
    words, status = "rule not found", 404


class BadRules(Refused):
    words, status = "rules refused", 400


class NotAllowed(Refused):
    words, status = "a token is needed", 401


class NoBrowsers(Refused):
    words, status = "User agent not allowed", 403


class TookTooLong(Refused):
    words, status = "took too long", 503


class _InvalidType(Refused):
    words, status = "invalid toxic type", 400


class _InvalidStream(Refused):
    words, status = "stream was invalid, can be either upstream or downstream", 400


class _ToxicExists(Refused):
    words, status = "toxic already exists", 409


class _NoSuchToxic(Refused):
    words, status = "toxic not found", 404


_TOXICS: dict[type[Exception], type[Refused]] = {
    BadAttribute: BadBody,
    UnknownToxicType: _InvalidType,
    BadStream: _InvalidStream,
    ToxicExists: _ToxicExists,
    NoSuchToxic: _NoSuchToxic,
}


def as_refused(error: Exception) -> Refused | None:
    """Return the API's error for one of its own or of the toxics; None for any other error."""
    if isinstance(error, Refused):
        return error
    kind = _TOXICS.get(type(error))
    return kind(str(error.args[0])) if kind else None
