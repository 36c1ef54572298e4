"""The permanent addresses of a site: each follows from the name of its subject alone."""

from __future__ import annotations

import hashlib
import string
from typing import Final

TARGETS: Final = "targets"
REQUIREMENTS: Final = "requirements"
APIS: Final = "apis"
BADGES: Final = "badges"
FEEDS: Final = "feeds"
SARIF: Final = "sarif"
LONGEST: Final = 120
"""Characters of a name in an address; file systems take 255 bytes."""
_KEPT: Final = frozenset(string.ascii_letters + string.digits + "-_.,=")
_COLON: Final = "@"
"""Stands for a colon, which names of files can't have everywhere."""


def name_of(text: str) -> str:
    """A name of a file and part of an address; different texts have different ones.

    `kafka:4.4.0,nodes=3` is `kafka@4.4.0,nodes=3`. Signs that an address or a file system could
    misread are `~` and two hexadecimal digits a byte; a long text is cut and gets its hash.
    """
    made = "".join(map(_sign, text))
    if made.startswith("."):
        made = "~2e" + made[1:]
    if made and len(made) <= LONGEST:
        return made
    return f"{made[:LONGEST]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _sign(sign: str) -> str:
    if sign in _KEPT:
        return sign
    if sign == ":":
        return _COLON
    return "".join(f"~{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))


def target_page(target: str) -> str:
    """The page of a target."""
    return f"{TARGETS}/{name_of(target)}.html"


def requirement_page(requirement: str) -> str:
    """The page of a requirement."""
    return f"{REQUIREMENTS}/{name_of(requirement)}.html"


def api_page(name: str) -> str:
    """The page of an API by its name; one that Kafka does not have is named by its key."""
    return f"{APIS}/{name_of(name)}.html"


def badge(target: str, suffix: str) -> str:
    """The badge of a target, as `svg` or `json`."""
    return f"{BADGES}/{name_of(target)}.{suffix}"


def feed(target: str) -> str:
    """The feed of a target."""
    return f"{FEEDS}/{name_of(target)}.xml"


def sarif(target: str) -> str:
    """The findings of a target."""
    return f"{SARIF}/{name_of(target)}.sarif"
