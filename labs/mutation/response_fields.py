"""Mutants of responses: one field of the responses of one API has another value, or its default.

Each stands for a field that a broker fills wrongly, or never. They are made from the message
definitions, so that no field of a response is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cache
from typing import Any
from uuid import UUID

from harness.codec.apis import APIS
from harness.codec.specs import FieldSpec, StructSpec
from harness.codec.structs import Message
from harness.codec.versions import VersionRange
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.table import HANDLERS
from labs.mutation.code_swap import NoSuchMutant
from labs.mutation.mutant import Mutant

FIELD = "field"
"""The operator."""
PACKAGE = "harness.reference_broker"
NODE = f"{PACKAGE}.node"
OTHER, DEFAULT, NULL = "another value", "the default", "null"
ANOTHER_UUID = UUID("7fffffff-0000-4000-8000-0000000000aa")
Path = tuple[str, ...]
Change = Callable[[Any], Any]


def field_mutants() -> list[Mutant]:
    """Return the mutants of all responses of the built-in broker."""
    return [mutant for key in HANDLERS for mutant, _, _ in _of_api(key)]


def is_about(test: str, mutant: Mutant) -> bool:
    """True for the test of the specification about the API of a mutant: it reads every field."""
    api = mutant.module.rpartition(".")[2].split("_", 2)[2]
    return test.endswith(f"::test_{api}_responds_as_specification")


def put_field_in_place(name: str) -> Mutant:
    """Change the responses of this process's broker. Raises NoSuchMutant."""
    for key in HANDLERS:
        for mutant, path, change in _of_api(key):
            if mutant.name == name:
                _change_responses(key, path, change, _nullable(key, path))
                return mutant
    raise NoSuchMutant(f"{name}: no response has such a field")


@cache
def _of_api(key: int) -> Sequence[tuple[Mutant, Path, Change]]:
    """Return the mutants of an API's responses, with the field's path and its change."""
    spec = APIS[key].response.message_spec
    module = f"{PACKAGE}.handlers.{HANDLERS[key].module}"
    return [
        (_mutant(module, number, at, path, what), path, change)
        for number, (path, field) in enumerate(_paths(spec.root, ()))
        for at, (what, change) in enumerate(_changes(field))
    ]


def _nullable(key: int, path: Path) -> VersionRange:
    root = APIS[key].response.message_spec.root
    return next(field.nullable for found, field in _paths(root, ()) if found == path)


def _mutant(module: str, number: int, at: int, path: Path, what: str) -> Mutant:
    return Mutant(FIELD, module, ".".join(path), number, 0, at, "the value", what)


def _paths(struct: StructSpec, outer: Path) -> Iterator[tuple[Path, FieldSpec]]:
    for field in struct.fields:
        path = (*outer, field.name)
        yield path, field
        if field.struct is not None:
            yield from _paths(field.struct, path)


def _changes(field: FieldSpec) -> Iterator[tuple[str, Change]]:
    if field.kind in _OTHER:
        yield OTHER, _OTHER[field.kind]
    if field.kind != "struct" and field.default is not None:
        default = [] if field.default is ... else field.default
        yield DEFAULT, lambda _value: copy(default)
    if field.nullable:
        yield NULL, _null


def _null(_value: Any) -> None:
    return None


def _more(value: Any) -> Any:
    return value + 1


_OTHER: dict[str, Change] = {
    **dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64", "float64"), _more),
    "bool": lambda value: not value,
    "string": lambda value: f"{value or ''}x",
    "bytes": lambda value: bytes(value or b"") + b"x",
    "uuid": lambda _value: ANOTHER_UUID,
    "array": lambda value: value[:-1] if value else value,
}
"""Another value, by the kind of the field; records and structs have fields of their own."""


def with_change(message: Any, path: Path, change: Change) -> Any:
    """Return a copy with the fields of this path changed; the broker may keep the message."""
    made, (name, *rest) = copy(message), path
    value = getattr(made, name)
    if not rest:
        setattr(made, name, change(value))
    elif isinstance(value, list):
        setattr(made, name, [with_change(one, tuple(rest), change) for one in value])
    elif value is not None:
        setattr(made, name, with_change(value, tuple(rest), change))
    return made


def _change_responses(key: int, path: Path, change: Change, nullable: VersionRange) -> None:
    node = importlib.import_module(NODE)
    right, response = node._response, APIS[key].response

    def wrong(message: Message, version: int, *others: Any) -> Any:
        can_be_sent = change is not _null or version in nullable
        if type(message) is response and can_be_sent:
            message = with_change(message, path, change)
        return right(message, version, *others)

    vars(node)["_response"] = wrong
    _encode_each_time(key)


def _encode_each_time(key: int) -> None:
    """Let the broker encode each response anew: an encoded one would pass unchanged."""
    served, right = HANDLERS[key], HANDLERS[key].handle

    def handle(request: Any, context: RequestContext) -> Outcome:
        outcome = right(request, context)
        return Answer(outcome.message) if isinstance(outcome, Answer) else outcome

    vars(served)["handle"] = handle
