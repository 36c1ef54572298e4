"""Who may use the API: programs on this machine, or who knows the token; no browsers."""

from __future__ import annotations

import hmac
import ipaddress

from harness.proxies.control.errors import NoBrowsers, NotAllowed

BROWSERS = "Mozilla/"  # a page that somebody looks at must not control proxies
SCHEME = "Bearer "


def require_safe(host: str, token: str | None) -> None:
    """Raises ValueError: other machines could reach this address, and there is no token."""
    if token is not None and (not token or not token.isascii() or not token.isprintable()):
        raise ValueError("the token must be printable ASCII, and not empty")
    if token is None and not is_loopback(host):
        raise ValueError(
            f"the control API at {host or 'every address'} could be used from other machines: "
            "give it a token, or listen on 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether it is an address, or the one name, that stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_allowed(user_agent: str, authorization: str, token: str | None) -> None:
    """Raises NoBrowsers or NotAllowed."""
    if user_agent.startswith(BROWSERS):
        raise NoBrowsers
    if token is None:
        return
    given = authorization.removeprefix(SCHEME) if authorization.startswith(SCHEME) else ""
    if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode()):
        raise NotAllowed("Authorization: Bearer TOKEN")
