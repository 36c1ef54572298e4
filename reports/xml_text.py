"""Text that XML can hold: a broker's words may have signs that it cannot."""

from __future__ import annotations

import re
from typing import Final

# What XML 1.0 cannot hold, also not escaped.
_FORBIDDEN: Final = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def xml_text(text: str) -> str:
    """The text with each such sign as its number, `\\x00`."""
    return _FORBIDDEN.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)
