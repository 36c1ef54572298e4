"""Errors in bytes that should be records."""

from __future__ import annotations

from harness.codec.errors import CodecError


class RecordsError(CodecError):
    """Bytes that are no records; says at which offset.

    ``offset``: the byte where the batch or message begins, None where it is not known.
    ``path``: what is wrong, ``[1].records[3]`` for the fourth record of the second batch.
    """

    def __init__(self, problem: str, *, offset: int | None = None, path: str = "") -> None:
        self.offset, self.path = offset, path
        super().__init__(problem)


class CorruptMessageError(RecordsError):
    """Bytes that are no message or batch at all: length, magic or checksum is wrong."""
