"""The error for bytes or values that do not fit a documented format."""

from __future__ import annotations

from harness.codec.errors import CodecError


class ByDocumentError(CodecError):
    """Bytes that are not of the format, or a value that it cannot hold.

    ``name`` is the structure, ``path`` the field (``fetches[1].topic``), ``offset`` the byte where
    reading it began, None when writing.
    """

    def __init__(self, problem: str, *, name: str, path: str, offset: int | None = None) -> None:
        self.problem, self.name, self.path, self.offset = problem, name, path, offset
        place = "" if offset is None else f" at byte {offset}"
        super().__init__(f"{name}: {path or '(whole)'}{place}: {problem}")
