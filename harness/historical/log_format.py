"""The two forms of the entries of an old log file."""

from __future__ import annotations

from enum import Enum


class LogFormat(Enum):
    """A length and a message (0.7), or an offset in front of both too (0.8 to 0.10)."""

    V0_7 = "0.7"
    V0_8 = "0.8"
