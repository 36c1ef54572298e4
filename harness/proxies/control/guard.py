"""Access to the API: for programs on this machine, or with the token; no browsers."""

from __future__ import annotations

import hmac
import ipaddress

from harness.proxies.control.errors import NoBrowsers, NotAllowed

BROWSERS = "Mozilla/"  # a web page must not control proxies
SCHEME = "Bearer "


def require_safe(host: str, token: str | None) -> None:
    """Raise ValueError: other machines could reach it without a token, or the token is bad."""
    if token is not None and (not token or not token.isascii() or not token.isprintable()):
        raise ValueError("the token must be printable ASCII, and not empty")
    if token is None and not is_loopback(host):
        raise ValueError(
            f"the control API at {host or 'every address'} could be used from other machines: "
            "give it a token, or listen on 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """True if ``host`` is a loopback address or ``localhost``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_allowed(user_agent: str, authorization: str, token: str | None) -> None:
    """Raise NoBrowsers or NotAllowed for a request that is not allowed."""
    if user_agent.startswith(BROWSERS):
        raise NoBrowsers
    if token is None:
        return
    given = authorization.removeprefix(SCHEME) if authorization.startswith(SCHEME) else ""
    if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode()):
        raise NotAllowed("Authorization: Bearer TOKEN")
