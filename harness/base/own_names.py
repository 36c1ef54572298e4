"""Names of all that is made on a broker, such that they are known again as ours.

``PREFIX NONCE-CASE-NUMBER``, as in ``kc-6740b1c2a93f51-0c3e77d1-2``: the prefix is the target's,
the nonce the run's (its second since 1970 and 24 random bits, in hexadecimal), the case's eight
digits are a checksum of its name. What a test adds stands behind the number. ``sweep`` stands in
place of a number for the names of a sweep.
"""

from __future__ import annotations

import re
import secrets
import time
import zlib

DEFAULT_PREFIX = "kc-"
PREFIX_LIMIT_CHARACTERS = 40
SWEEP = "sweep"
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OWN = re.compile(
    rf"(?P<second>[0-9a-f]{{8}})[0-9a-f]{{6}}-[0-9a-f]{{8}}-(?:[1-9]\d*|{SWEEP})(?:\D.*)?",
    re.DOTALL,
)
_FIRST_SECOND = 1_700_000_000  # November 2023: no run of ours is older
_CLOCKS_DIFFER_S = 86_400


def prefix_problem(prefix: str) -> str | None:
    """Return the problem of a prefix, or None if it can begin a topic's name."""
    if len(prefix) > PREFIX_LIMIT_CHARACTERS:
        return f"is longer than {PREFIX_LIMIT_CHARACTERS} characters"
    if not _PREFIX.fullmatch(prefix):
        return "must begin with a letter or digit, then letters, digits, '.', '_' and '-'"
    return None


def new_nonce() -> str:
    """Return a nonce that all names of one run contain, and no names of other runs."""
    return f"{int(time.time()):08x}{secrets.token_hex(3)}"


def case_prefix(prefix: str, nonce: str, case: str) -> str:
    """Return the part before the number in the names of one case of a run."""
    return f"{prefix}{nonce}-{zlib.crc32(case.encode()):08x}"


def sweep_name(prefix: str = DEFAULT_PREFIX) -> str:
    """A name for one request of a sweep, which nothing has."""
    return f"{prefix}{new_nonce()}-{secrets.token_hex(4)}-{SWEEP}"


def age_s(name: str, prefix: str, now_s: float) -> float | None:
    """Return the seconds since the start of the run that made this name; None if it is not ours.

    A name is not ours either if its time is before there were such names, or in the future.
    """
    if not name.startswith(prefix):
        return None
    match = _OWN.fullmatch(name, len(prefix))
    if match is None:
        return None
    second = int(match["second"], 16)
    if not _FIRST_SECOND <= second <= now_s + _CLOCKS_DIFFER_S:
        return None
    return max(0.0, now_s - second)
