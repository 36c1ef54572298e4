"""Bytes to values and back: primitives, schemas, headers, frames, record formats, error codes.

Nothing here knows of sockets, clocks or threads.
"""

from harness.codec.errors import (
    CodecError,
    DecodeError,
    DefinitionError,
    EncodeError,
    FrameError,
    UnknownApiError,
    UnsupportedVersionError,
)
from harness.codec.message_codec import decode, decode_prefix, encode, encode_parts

__all__ = [
    "CodecError",
    "DecodeError",
    "DefinitionError",
    "EncodeError",
    "FrameError",
    "UnknownApiError",
    "UnsupportedVersionError",
    "decode",
    "decode_prefix",
    "encode",
    "encode_parts",
]
