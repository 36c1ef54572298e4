"""All structs of a message, for what holds at every depth."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.structs import Struct


def structs_at(struct: Struct, version: int) -> Iterator[Struct]:
    """The struct itself and all in it that go over the wire at this version."""
    yield struct
    for spec in struct.spec.fields:
        if version in spec.tagged or version not in spec.versions:
            continue  # a tagged struct that is only the default stays unwritten
        value = getattr(struct, spec.name)
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, Struct):
                yield from structs_at(element, version)


def error_codes(answer: Struct, version: int) -> list[int]:
    """Every ``error_code`` in an answer, in the order of the wire."""
    return [
        getattr(one, spec.name)
        for one in structs_at(answer, version)
        for spec in one.spec.fields
        if spec.name == "error_code" and version in spec.versions
    ]
