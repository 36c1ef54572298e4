"""Errors of the conversion between bytes and values."""

from __future__ import annotations


class CodecError(Exception):
    """Base of every error that this room raises on purpose."""


class DefinitionError(CodecError):
    """A message definition does not follow the grammar; the message names file and place."""


class UnsupportedVersionError(CodecError):
    """The message exists, but not at this version."""


class UnknownApiError(CodecError):
    """No API has this key, or this name."""


class FrameError(CodecError):
    """A frame's length is negative or above the limit."""


class DecodeError(CodecError):
    """Bytes that are not a valid message.

    ``message`` and ``version`` name the layout, ``path`` the field (``topics[2].name``),
    ``offset`` the byte where reading it began.
    """

    def __init__(self, problem: str, *, message: str, version: int, path: str, offset: int) -> None:
        self.problem, self.message, self.version = problem, message, version
        self.path, self.offset = path, offset
        super().__init__(
            f"{message} v{version}: {path or '(whole message)'} at byte {offset}: {problem}"
        )


class EncodeError(CodecError):
    """A value that this version of the message cannot carry; names the field."""

    def __init__(self, problem: str, *, message: str, version: int, path: str) -> None:
        self.problem, self.message, self.version, self.path = problem, message, version, path
        super().__init__(f"{message} v{version}: {path or '(whole message)'}: {problem}")
