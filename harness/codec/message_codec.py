"""``encode`` and ``decode`` for every message: the interface of the codec.

``encode_parts`` is for callers that write the parts themselves, borrowed buffers among them;
``decode_prefix`` reads a message that more bytes follow.

Generators are imported with the first message, interpreters with the first error.
"""

from __future__ import annotations

from harness.codec.errors import CodecError, DecodeError, UnsupportedVersionError
from harness.codec.structs import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from harness.codec.borrowed_buffer import BorrowedBuffer

    M = TypeVar("M", bound=Message)


_decoders: dict[tuple[type[Message], int, bool], Callable[[bytes, int, int], Any]] = {}
_encoders: dict[tuple[type[Message], int], Callable[[Message], list[bytes]]] = {}


def encode(message: Message, version: int) -> bytes:
    """The body of ``message`` at ``version``.

    Raises EncodeError, naming the field, when a value does not fit or this version cannot carry
    it (unless the field is ignorable), and UnsupportedVersionError.
    """
    write = _encoders.get((type(message), version)) or _encoder(type(message), version)
    try:
        return b"".join(write(message))
    except Exception as error:
        raise _refusal(message, version) from error


def encode_parts(message: Message, version: int) -> list[bytes | BorrowedBuffer]:
    """As ``encode``, in parts: one behind the other they are the body. Raises the same.

    Unlike there, a value may be a BorrowedBuffer.
    """
    write = _encoders.get((type(message), version)) or _encoder(type(message), version)
    try:
        return write(message)  # type: ignore[return-value]
    except Exception as error:
        raise _refusal(message, version) from error


def _encoder(cls: type[Message], version: int) -> Callable[[Message], list[bytes]]:
    require_version(cls, version)
    from harness.codec.generate_encoder import generate_encoder

    write = _encoders[cls, version] = generate_encoder(cls, version)
    return write


def _refusal(message: Message, version: int) -> CodecError:
    from harness.codec.interpreter_encode import FieldWriter

    FieldWriter(message, version).write()  # raises the precise error
    return CodecError(f"encoders of {type(message).__name__} v{version} disagree")


def decode(cls: type[M], version: int, data: bytes, offset: int = 0) -> M:
    """The message that fills ``data`` from ``offset``; bytes left over are a DecodeError."""
    message, end = decode_prefix(cls, version, data, offset)
    if end != len(data):
        raise DecodeError(
            f"{len(data) - end} bytes left over after the message",
            message=cls.__name__,
            version=version,
            path="",
            offset=end,
        )
    return message


def decode_prefix(
    cls: type[M], version: int, data: bytes, offset: int = 0, *, tolerant: bool = False
) -> tuple[M, int]:
    """Return the message that begins at ``offset``, and the offset behind it.

    Strict by default. ``tolerant`` reads as Apache Kafka's own generated readers do: any negative
    length is null, tags need not ascend (the last of two equal ones counts), the size of a known
    tag is ignored, text that is no UTF-8 is read with replacement characters. Raises DecodeError
    with message, version, field path and byte offset.
    """
    read = _decoders.get((cls, version, tolerant))
    if read is None:
        require_version(cls, version)
        from harness.codec.generate_decoder import generate_decoder

        read = _decoders[cls, version, tolerant] = generate_decoder(cls, version, tolerant)
    try:
        found: tuple[M, int] = read(data, offset, len(data))
        return found
    except Exception as error:  # noqa: BLE001  # told by the reader below, or raised again
        cause = error.with_traceback(None)  # which would hold all that has been read
    from harness.codec.interpreter_decode import FieldReader

    FieldReader(cls, version, data, offset, tolerant, keep=False).read()  # raises the precise error
    raise CodecError(f"decoders of {cls.__name__} v{version} disagree") from cause


def require_version(cls: type[Message], version: int) -> None:
    """Raises UnsupportedVersionError when the message has no such version."""
    spec = getattr(cls, "message_spec", None)
    if spec is None:
        raise TypeError(f"{cls.__qualname__} is no message, only those have versions and bytes")
    if version not in spec.valid:
        raise UnsupportedVersionError(f"{cls.__name__} has versions {spec.valid}, not {version!r}")
