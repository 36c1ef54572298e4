"""The Python that was generated for a message at a version, to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.codec.generate_decoder import generate_decoder
from harness.codec.generate_encoder import generate_encoder
from harness.codec.structs import Message


def decoder_source(cls: type[Message], version: int) -> str:
    """The source of the strict decoder; the version must be one of the message's."""
    return _source_of(generate_decoder(cls, version))


def encoder_source(cls: type[Message], version: int) -> str:
    """The source of the encoder."""
    return _source_of(generate_encoder(cls, version))


def _source_of(made: Callable[..., Any]) -> str:
    names = made.__globals__
    source: str = names["__loader__"].get_source(names["__name__"])
    return source
