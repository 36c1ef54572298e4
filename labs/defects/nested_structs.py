"""The structs of a message that a path leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def structs_at(message: Any, *path: str) -> Iterator[Any]:
    """Yield each struct at the end of the path; each element of an array counts.

    Without a path it is the message itself. A null on the way yields nothing.
    """
    if not path:
        yield message
        return
    inner = getattr(message, path[0])
    for one in inner if isinstance(inner, list) else [inner]:
        if one is not None:
            yield from structs_at(one, *path[1:])
