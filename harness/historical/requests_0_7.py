"""The five requests of Kafka 0.7 and their answers, by document only.

A request is its size (int32), its type (int16) and its fields: no version, no correlation id, no
client id; answers come in the order of the requests. Produce and MultiProduce are not answered.
An answer is its size (int32), an error code (int16) and what was asked for.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, NamedTuple

from harness.historical.errors import ByDocumentError
from harness.historical.fields import (
    INT16,
    INT32,
    INT64,
    DocumentReader,
    number_bytes,
    string_bytes,
)

RANDOM_PARTITION = -1  # the broker chooses
LATEST_TIME, EARLIEST_TIME = -1, -2
ERROR_NAMES = {
    -1: "UnknownCode",
    0: "NoError",
    1: "OffsetOutOfRangeCode",
    2: "InvalidMessageCode",
    3: "WrongPartitionCode",
    4: "InvalidFetchSizeCode",
}


class ProduceRequest(NamedTuple):
    """``messages``: a message set as bytes, see ``messages_0_7``."""

    topic: str
    partition: int = RANDOM_PARTITION
    messages: bytes = b""


class FetchRequest(NamedTuple):
    """``offset``: a byte position in the log; ``max_size``: bytes of messages at most."""

    topic: str
    partition: int = 0
    offset: int = 0
    max_size: int = 0


class OffsetsRequest(NamedTuple):
    """The starts of segments that began before ``time``, in milliseconds, -1 latest, -2 earliest.

    ``max_offsets``: so many at most, the newest first.
    """

    topic: str
    partition: int = 0
    time: int = LATEST_TIME
    max_offsets: int = 1


class MultiFetchRequest(NamedTuple):
    """Several fetches, each with topic and partition."""

    fetches: list[FetchRequest]


class MultiProduceRequest(NamedTuple):
    """Several produces."""

    produces: list[ProduceRequest]


class FetchResponse(NamedTuple):
    """``messages``: the bytes of a message set; its last message may be cut."""

    error_code: int = 0
    messages: bytes = b""


class MultiFetchResponse(NamedTuple):
    """An answer a fetch, in their order, each with its own error code."""

    error_code: int
    responses: list[FetchResponse]


class OffsetsResponse(NamedTuple):
    """In descending order."""

    error_code: int
    offsets: list[int]


Request = ProduceRequest | FetchRequest | MultiFetchRequest | MultiProduceRequest | OffsetsRequest

_TYPES: dict[type[Any], int] = {
    ProduceRequest: 0,
    FetchRequest: 1,
    MultiFetchRequest: 2,
    MultiProduceRequest: 3,
    OffsetsRequest: 4,
}
_CLASSES = {number: cls for cls, number in _TYPES.items()}
_ELEMENTS: dict[type[Any], type[Any]] = {
    MultiFetchRequest: FetchRequest,
    MultiProduceRequest: ProduceRequest,
}
# Field by field; None is a string, bytes is an int32 length and the bytes.
_LAYOUTS: dict[type[Any], tuple[Struct | type[bytes] | None, ...]] = {
    ProduceRequest: (None, INT32, bytes),
    FetchRequest: (None, INT32, INT64, INT32),
    OffsetsRequest: (None, INT32, INT64, INT32),
}
_MOST_ELEMENTS = 2**15 - 1


def encode_request(request: Request) -> bytes:
    """Size, type and fields. Raises ByDocumentError for a value that does not fit."""
    cls = type(request)
    name = f"{cls.__name__} of 0.7"
    if isinstance(request, MultiFetchRequest | MultiProduceRequest):
        field, elements = request._fields[0], request[0]
        if len(elements) > _MOST_ELEMENTS:
            raise ByDocumentError(f"{len(elements)} elements, too many", name=name, path=field)
        body = INT16.pack(len(elements)) + b"".join(
            _fields_bytes(element, name, f"{field}[{index}].")
            for index, element in enumerate(elements)
        )
    else:
        body = _fields_bytes(request, name, "")
    return _sized(INT16.pack(_TYPES[cls]) + body)


def _fields_bytes(values: Any, name: str, prefix: str) -> bytes:
    made = b""
    for field, value, kind in zip(values._fields, values, _LAYOUTS[type(values)], strict=True):
        if kind is None:
            made += string_bytes(value, name, prefix + field)
        elif isinstance(kind, Struct):
            made += number_bytes(kind, value, name, prefix + field)
        else:
            made += INT32.pack(len(value)) + value
    return made


def decode_request(data: bytes) -> Request:
    """One request, from its size on; nothing may follow. Raises ByDocumentError."""
    reader = _unsized("Request of 0.7", data)
    number = reader.number(INT16, "type")
    if number not in _CLASSES:
        raise reader.bad(f"{number}; there are 0 to {max(_CLASSES)}", "type", INT32.size)
    cls = _CLASSES[number]
    reader.name = f"{cls.__name__} of 0.7"
    element = _ELEMENTS.get(cls)
    if element is None:
        request = _read_fields(reader, cls, "")
    else:
        (field,) = cls._fields
        count = reader.number(INT16, field)
        if count < 0:
            raise reader.bad(f"{count} elements", field, reader.at - INT16.size)
        request = cls([_read_fields(reader, element, f"{field}[{i}].") for i in range(count)])
    reader.end()
    found: Request = request
    return found


def _read_fields(reader: DocumentReader, cls: Any, prefix: str) -> Any:
    values: list[Any] = []
    for field, kind in zip(cls._fields, _LAYOUTS[cls], strict=True):
        path = prefix + field
        if kind is None:
            values.append(reader.string(path))
        elif isinstance(kind, Struct):
            values.append(reader.number(kind, path))
        else:
            values.append(reader.raw(reader.number(INT32, path), path))
    return cls(*values)


def encode_fetch_response(response: FetchResponse) -> bytes:
    """Size, error code and message set. Raises ByDocumentError."""
    return _sized(_error_bytes(response.error_code) + response.messages)


def decode_fetch_response(data: bytes) -> FetchResponse:
    """Raises ByDocumentError."""
    reader = _unsized("FetchResponse of 0.7", data)
    error_code = reader.number(INT16, "error_code")
    return FetchResponse(error_code, reader.raw(reader.left_bytes, "messages"))


def encode_multi_fetch_response(response: MultiFetchResponse) -> bytes:
    """Size, error code, and an answer to each fetch with its own size. Raises ByDocumentError."""
    inner = b"".join(map(encode_fetch_response, response.responses))
    return _sized(_error_bytes(response.error_code) + inner)


def decode_multi_fetch_response(data: bytes) -> MultiFetchResponse:
    """Raises ByDocumentError."""
    reader = _unsized("MultiFetchResponse of 0.7", data)
    error_code = reader.number(INT16, "error_code")
    responses: list[FetchResponse] = []
    while reader.left_bytes:
        path = f"responses[{len(responses)}]"
        start = reader.at
        size = reader.number(INT32, path)
        if size < INT16.size:
            raise reader.bad(f"a size of {size}", path, start)
        reader.require(size, path)
        code = reader.number(INT16, f"{path}.error_code")
        responses.append(FetchResponse(code, reader.raw(size - INT16.size, f"{path}.messages")))
    return MultiFetchResponse(error_code, responses)


def encode_offsets_response(response: OffsetsResponse) -> bytes:
    """Size, error code, a count (int32) and the offsets (int64). Raises ByDocumentError."""
    name = "OffsetsResponse of 0.7"
    offsets = [
        number_bytes(INT64, offset, name, f"offsets[{index}]")
        for index, offset in enumerate(response.offsets)
    ]
    return _sized(_error_bytes(response.error_code) + INT32.pack(len(offsets)) + b"".join(offsets))


def decode_offsets_response(data: bytes) -> OffsetsResponse:
    """Raises ByDocumentError."""
    reader = _unsized("OffsetsResponse of 0.7", data)
    error_code = reader.number(INT16, "error_code")
    count = reader.number(INT32, "offsets")
    if count < 0:
        raise reader.bad(f"{count} offsets", "offsets", reader.at - INT32.size)
    reader.require(count * INT64.size, "offsets")
    offsets = [reader.number(INT64, f"offsets[{index}]") for index in range(count)]
    reader.end()
    return OffsetsResponse(error_code, offsets)


def _error_bytes(error_code: int) -> bytes:
    return number_bytes(INT16, error_code, "Response of 0.7", "error_code")


def _sized(body: bytes) -> bytes:
    return INT32.pack(len(body)) + body


def _unsized(name: str, data: bytes) -> DocumentReader:
    reader = DocumentReader(name, data)
    size = reader.number(INT32, "size")
    if size != reader.left_bytes:
        raise reader.bad(f"{size} bytes are said, {reader.left_bytes} follow", "size", 0)
    return reader
