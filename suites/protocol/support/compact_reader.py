"""A second reading of compact encodings (KIP-482), apart from the codec."""

from __future__ import annotations

from harness.codec.varint import decode_uvarint


class CompactReader:
    """Reads one field after the other; fails with an assertion where the bytes run out."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        left = len(self.data) - self.at
        assert count <= left, f"{count} bytes are announced at byte {self.at}, {left} are left"
        self.at += count
        return self.data[self.at - count : self.at]

    def length(self) -> int | None:
        """Unsigned varint of length + 1; 0 is null."""
        try:
            plus_one, self.at = decode_uvarint(self.data, self.at)
        except (IndexError, ValueError) as error:
            raise AssertionError(f"no length at byte {self.at}: {error}") from error
        return plus_one - 1 if plus_one else None

    def string(self) -> str | None:
        """None for null."""
        length = self.length()
        return None if length is None else self.take(length).decode()

    def no_tags(self) -> None:
        """An empty section of tagged fields."""
        tags = self.take(1)
        assert tags == b"\0", f"{tags!r} where an empty tagged section was to be"
