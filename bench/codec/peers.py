"""The peers, each as two calls without arguments for one message: encode and decode.

A peer's object is what the peer itself decodes from our bytes, so it holds what ours holds; the
peer must then write the same bytes again.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from typing import Any

from harness.codec.definition import snake_case
from harness.codec.structs import Message

Calls = tuple[Callable[[], bytes], Callable[[], object]]  # encode, decode
_CONSUMER = "kafka.protocol.consumer"
_THEIR_MODULES = {
    "MetadataResponse": "kafka.protocol.metadata",
    "FetchRequest": f"{_CONSUMER}.fetch",
    "FetchResponse": f"{_CONSUMER}.fetch",
    "ProduceRequest": "kafka.protocol.producer.produce",
    "ApiVersionsResponse": "kafka.protocol.metadata",
    "JoinGroupResponse": f"{_CONSUMER}.group",
    "OffsetCommitRequest": f"{_CONSUMER}.group",
}
_AIOKAFKA_MODULES = {
    "MetadataResponse": "metadata",
    "FetchRequest": "fetch",
    "FetchResponse": "fetch",
    "ProduceRequest": "produce",
    "ApiVersionsResponse": "admin",
    "JoinGroupResponse": "group",
    "OffsetCommitRequest": "commit",
}


def kafka_python(message: Message, version: int, raw: bytes) -> Calls:
    """``decode`` and ``encode`` of the class, which compile once what they run."""
    name = type(message).__name__
    cls = getattr(importlib.import_module(_THEIR_MODULES[name]), name)

    def decode() -> Any:
        return cls.decode(raw, version=version)

    held = decode()
    held._header = None  # decode leaves it out, encode looks at it
    return lambda: held.encode(version=version), decode


def kio(message: Message, version: int, raw: bytes) -> Calls:
    """``entity_reader`` and ``entity_writer``; both keep what they made for a class."""
    from kio.serial import entity_reader, entity_writer

    name = type(message).__name__
    area = snake_case(name.removesuffix("Request").removesuffix("Response"))
    direction = "request" if name.endswith("Request") else "response"
    module = importlib.import_module(f"kio.schema.{area}.v{version}.{direction}")
    cls: Any = getattr(module, name)
    read, write = entity_reader(cls), entity_writer(cls)

    def encode() -> bytes:
        with io.BytesIO() as buffer:
            write(buffer, held)
            return buffer.getvalue()

    def decode() -> Any:
        return read(raw, 0)[0]

    held = decode()
    return encode, decode


def aiokafka(message: Message, version: int, raw: bytes) -> Calls:
    """``decode`` and ``encode`` of the struct of that version."""
    name = type(message).__name__
    module = importlib.import_module(f"aiokafka.protocol.{_AIOKAFKA_MODULES[name]}")
    cls = getattr(module, f"{name.replace('ApiVersions', 'ApiVersion')}_v{version}")
    held = cls.decode(raw)
    return held.encode, lambda: cls.decode(raw)
