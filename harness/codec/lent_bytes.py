"""Bytes that stay where they are while a message is encoded around them."""

from __future__ import annotations

from collections.abc import Callable


class LentBytes:
    """May stand in a message for bytes or records: ``encode_parts`` gives it back as a part of its
    own. Only ``len()`` is asked meanwhile; ``bytes()`` are the bytes.
    ``on_error`` is told why they cannot be read.
    """

    __slots__ = ("on_error",)

    def __init__(self) -> None:
        self.on_error: Callable[[OSError], None] = lambda _error: None

    def __len__(self) -> int:
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        raise NotImplementedError
