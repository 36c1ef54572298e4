"""Bearer tokens without a signature, which a broker without an endpoint for keys takes.

Source: classes OAuthBearerUnsecuredValidatorCallbackHandler, OAuthBearerUnsecuredJws and
OAuthBearerValidationUtils (KIP-255). The parts are base64 of the standard alphabet, as there.
"""

import base64
import binascii
import json
from typing import Any

_PARTS = 3
_MS_PER_S = 1000
_USER, _ISSUED, _EXPIRES = "sub", "iat", "exp"


class TokenRefused(Exception):
    """The token is not taken; ``status`` is the word of RFC 6750 for the client."""

    status = "invalid_token"


def read_unsecured(token: str, now_ms: int) -> tuple[str, int]:
    """Return the user of a token and the milliseconds that it lives. Raises TokenRefused."""
    parts = token.split(".")
    if len(parts) != _PARTS or not parts[1] or parts[2]:
        raise TokenRefused("not three parts, or a signature")
    header, claims = _members(parts[0]), _members(parts[1])
    if header.get("alg") != "none":
        raise TokenRefused("another algorithm than none")
    user, expires_s, issued_s = claims.get(_USER), _time(claims, _EXPIRES), _time(claims, _ISSUED)
    if not isinstance(user, str) or not user.strip():
        raise TokenRefused("no user")
    if expires_s is None or now_ms >= expires_s * _MS_PER_S:
        raise TokenRefused("expired")
    if issued_s is not None and (issued_s * _MS_PER_S > now_ms or expires_s <= issued_s):
        raise TokenRefused("issued later")
    return user, round(expires_s * _MS_PER_S) - now_ms


def _members(part: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), validate=True))
    except (binascii.Error, ValueError):
        raise TokenRefused("no JSON in base64") from None
    return found if isinstance(found, dict) else {}


def _time(claims: dict[str, Any], name: str) -> float | None:
    """Return the seconds of a claim, None without it."""
    value = claims.get(name)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise TokenRefused(f"{name} is no number")
    return value
