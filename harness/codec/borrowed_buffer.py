"""Bytes that stay where they are while a message is encoded around them."""

from __future__ import annotations

from collections.abc import Callable


class BorrowedBuffer:
    """A borrowed buffer in place of bytes or records in a message.

    ``encode_parts`` returns it as a part of its own and calls only ``len()``; ``bytes()`` reads the
    bytes. ``on_error`` is called with the error when they cannot be read.
    """

    __slots__ = ("on_error",)

    def __init__(self) -> None:
        self.on_error: Callable[[OSError], None] = lambda _error: None

    def __len__(self) -> int:
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        raise NotImplementedError
