"""The Python that was generated for a message at a version, to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.codec.generate_decoder import generate_decoder
from harness.codec.generate_encoder import generate_encoder
from harness.codec.generated_runtime import Lazy
from harness.codec.source import source_of
from harness.codec.structs import Message


def decoder_source(cls: type[Message], version: int) -> str:
    """The source of the strict decoder; the version must be one of the message's.

    What is else only made when it is needed, the readers of tagged fields, stands behind it.
    """
    return "\n".join(_sources(generate_decoder(cls, version), set()))


def encoder_source(cls: type[Message], version: int) -> str:
    """The source of the encoder, in the same manner."""
    return "\n".join(_sources(generate_encoder(cls, version), set()))


def _sources(made: Callable[..., Any], seen: set[str]) -> Iterator[str]:
    yield source_of(made)
    for name, value in list(made.__globals__.items()):
        if isinstance(value, Lazy) and name not in seen:
            seen.add(name)
            first, *deeper = _sources(value.make(), seen)
            yield f"# {name}\n{first}"
            yield from deeper
