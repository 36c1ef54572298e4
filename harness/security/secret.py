"""A text that is never shown."""

from __future__ import annotations

from dataclasses import dataclass, field

SHOWN = "<secret>"


@dataclass(frozen=True, slots=True)
class Secret:
    """A password, key or token; ``repr`` and ``str`` do not contain it."""

    _text: str = field(repr=False)

    def reveal(self) -> str:
        """Return the text itself, for the one place that sends it."""
        return self._text

    def __repr__(self) -> str:
        return SHOWN

    def __str__(self) -> str:
        return SHOWN
