"""Version ranges as message definitions write them: ``3``, ``1-4``, ``2+``, ``none``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HIGHEST = 32767  # versions are int16


class VersionRange:
    """All versions from ``lowest`` to ``highest``, both included; empty when lowest > highest."""

    __slots__ = ("highest", "lowest")

    def __init__(self, lowest: int, highest: int) -> None:
        self.lowest, self.highest = lowest, highest

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Raises ValueError when ``text`` is none of the four forms."""
        if not isinstance(text, str):
            raise TypeError(f"not a version range: {text!r} is no text")
        if text == "none":
            return NO_VERSIONS
        first, dash, last = text.removesuffix("+").partition("-")
        numbers = (first, last) if dash else (first,)
        if not all(n.isascii() and n.isdecimal() for n in numbers) or (dash and text[-1] == "+"):
            raise ValueError(f"not a version range: {text!r} (write 3, 1-4, 2+ or none)")
        low = int(first)
        high = HIGHEST if text[-1] == "+" else int(last or first)
        if low > high:
            raise ValueError(f"not a version range: {text!r} runs backwards")
        return cls(low, high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VersionRange):
            return NotImplemented
        return (self.lowest, self.highest) == (other.lowest, other.highest)

    def __hash__(self) -> int:
        return hash((self.lowest, self.highest))

    def __repr__(self) -> str:
        return f"VersionRange(lowest={self.lowest}, highest={self.highest})"

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __and__(self, other: VersionRange) -> VersionRange:
        return VersionRange(max(self.lowest, other.lowest), min(self.highest, other.highest))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.lowest == self.highest:
            return str(self.lowest)
        return f"{self.lowest}+" if self.highest == HIGHEST else f"{self.lowest}-{self.highest}"


NO_VERSIONS = VersionRange(0, -1)
