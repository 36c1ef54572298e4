"""Sources of the bearer token of OAUTHBEARER: given, printed by a command, from an endpoint.

A token is used again until a fifth of its life is left: a run makes thousands of connections.
"""

from __future__ import annotations

import base64
import binascii
import json
import ssl
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harness.security.errors import ExchangeFailed
from harness.security.secret import Secret

TIMEOUT_S = 30
USED_SHARE = 0.8
UNKNOWN_LIFE_S = 60.0
SHOWN_CHARACTERS = 200


class TokenSource(Protocol):
    """A source of tokens."""

    def token(self) -> str:
        """Return a token that is valid now. Raises ExchangeFailed: there is none."""


class GivenToken:
    """The token that the settings contain."""

    def __init__(self, token: Secret) -> None:
        self._token = token

    def token(self) -> str:
        return self._token.reveal()


class UnsecuredToken:
    """A token without signature, as Kafka's default login makes it for development (KIP-255)."""

    def __init__(self, claims: Mapping[str, Any], life_s: float) -> None:
        self._claims, self._life_s = dict(claims), life_s

    def token(self) -> str:
        now = int(time.time())  # rounded down: a broker refuses a token of the next millisecond
        claims = {**self._claims, "iat": now, "exp": now + self._life_s}
        return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


class _Kept:
    """A token that is obtained again when little of its life is left."""

    def __init__(self) -> None:
        self._text, self._until = "", 0.0

    def token(self) -> str:
        now = time.monotonic()
        if now >= self._until:
            self._text, life_s = self._obtain()
            self._until = now + USED_SHARE * life_s
        return self._text

    def _obtain(self) -> tuple[str, float]:
        """A token and the seconds that it lives."""
        raise NotImplementedError


class CommandToken(_Kept):
    """The token that a command prints; its standard error is passed on when it fails."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self._words = list(words)

    def _obtain(self) -> tuple[str, float]:
        try:
            ended = subprocess.run(
                self._words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise ExchangeFailed(f"the command of the token failed: {_reason(problem)}") from None
        token = ended.stdout.strip()
        if ended.returncode or not token:
            said = ended.stderr.strip()[-SHOWN_CHARACTERS:] or "it printed nothing"
            raise ExchangeFailed(f"the command of the token ended with {ended.returncode}: {said}")
        return token, life_of(token)


class EndpointToken(_Kept):
    """The token of an authorization server, by client credentials (RFC 6749, section 4.4)."""

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: Secret,
        scope: str = "",
        context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self._url, self._client_id, self._client_secret = url, client_id, client_secret
        self._scope, self._context = scope, context

    def _obtain(self) -> tuple[str, float]:
        import httpx

        form = {"grant_type": "client_credentials"}
        if self._scope:
            form["scope"] = self._scope
        pair = (self._client_id, self._client_secret.reveal())
        verify = self._context or True
        try:
            answer = httpx.post(self._url, data=form, auth=pair, timeout=TIMEOUT_S, verify=verify)
            found = answer.raise_for_status().json()
            return str(found["access_token"]), _life_in(found)
        except httpx.HTTPStatusError as problem:
            raise ExchangeFailed(f"{self._url} answers {problem.response.status_code}") from None
        except httpx.HTTPError as problem:
            raise ExchangeFailed(f"{self._url} gives no token: {problem}") from None
        except (ValueError, KeyError, TypeError):
            raise ExchangeFailed(f"{self._url} answers without an access_token") from None


def _life_in(answer: Mapping[str, Any]) -> float:
    return float(answer.get("expires_in") or life_of(str(answer["access_token"])))


def life_of(token: str) -> float:
    """Return the seconds until the token's claim ``exp``; a minute for one without."""
    try:
        claims = json.loads(_decoded(token.split(".")[1]))
        return max(0.0, float(claims["exp"]) - time.time())
    except (IndexError, ValueError, KeyError, TypeError, binascii.Error):
        return UNKNOWN_LIFE_S


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _encoded(claims: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def _reason(problem: Exception) -> str:
    """The kind of the problem, and the system's text: other texts may repeat an answer."""
    if isinstance(problem, OSError):
        return problem.strerror or type(problem).__name__
    return type(problem).__name__
