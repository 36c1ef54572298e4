"""The form of each nullable field of a response: null, empty or a value.

A codec that turns null into empty hides a broker that sends the wrong one of the two; clients do
not: librdkafka reports a protocol error for a partition with null records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from harness.codec.apis import APIS, api_named
from harness.codec.specs import FieldSpec, StructSpec
from harness.differential.conversation import ConversationStep

NO_ERROR, ERROR = "no error", "error"
READ_COMMITTED = 1
"""The isolation level of Fetch."""


class NullForm(StrEnum):
    """A form of a nullable field. EMPTY: a string, bytes or an array of length 0."""

    NULL = "null"
    EMPTY = "empty"
    VALUE = "value"


class SeenForm(NamedTuple):
    """One nullable field of one response.

    Attributes:
        field: the path, as ``responses.partitions.records``.
        beside: ``error`` if an error code of an enclosing struct is set, else ``no error``; and
            the condition of the request that decides the form, where there is one.
        form: the form that the response has.
    """

    field: str
    beside: str
    form: NullForm


def forms_in(step: ConversationStep, response: Mapping[str, Any]) -> Iterator[SeenForm]:
    """Yield the forms in the response to a step; the response in its dictionary form."""
    condition = _condition_of(step)
    root = api_named(step.api).response.message_spec.root
    for field, has_error, form in _forms(root, step.version, response, "", False):
        beside = ERROR if has_error else NO_ERROR
        depends = condition and (step.api, field) in _DEPENDENT
        yield SeenForm(field, f"{beside}, {condition}" if depends else beside, form)


def _condition_of(step: ConversationStep) -> str:
    return _CONDITIONS[step.api](step.fields) if step.api in _CONDITIONS else ""


def _isolation(request: Mapping[str, Any]) -> str:
    reads_committed = request.get("isolation_level") == READ_COMMITTED
    return "read_committed" if reads_committed else "read_uncommitted"


def _documentation(request: Mapping[str, Any]) -> str:
    return "documentation" if request.get("include_documentation") else "no documentation"


def _topics(request: Mapping[str, Any]) -> str:
    return "topics" if request["topics"] else "no topics"


_CONDITIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "AlterPartitionReassignments": _topics,
    "Fetch": _isolation,
    "DescribeConfigs": _documentation,
}
_DEPENDENT = frozenset(
    {
        ("AlterPartitionReassignments", "error_message"),
        ("Fetch", "responses.partitions.aborted_transactions"),
        ("DescribeConfigs", "results.configs.documentation"),
    }
)
"""Fields with a form that the request decides."""


def _forms(
    struct: StructSpec, version: int, value: Mapping[str, Any], outer: str, has_error: bool
) -> Iterator[tuple[str, bool, NullForm]]:
    """Yield path, whether it stands beside an error, and form of each nullable field."""
    codes = [value.get(field.name) for field in struct.fields if is_error_code(field)]
    has_error = has_error or any(codes)
    for field in struct.fields:
        if field.name not in value:
            continue
        found, path = value[field.name], f"{outer}{field.name}"
        if version in field.nullable:
            yield path, has_error, _form(found)
        if field.struct is not None and found is not None:
            for inner in found if field.kind == "array" else [found]:
                yield from _forms(field.struct, version, inner, f"{path}.", has_error)


def is_error_code(field: FieldSpec) -> bool:
    """True for ``error_code`` and fields with a name that ends so."""
    return field.kind == "int16" and field.name.endswith("error_code")


def _form(value: Any) -> NullForm:
    if value is None:
        return NullForm.NULL
    return NullForm.VALUE if value else NullForm.EMPTY


@cache
def nullable_fields(api: str) -> tuple[str, ...]:
    """Return the paths of the fields of an API's response that some version allows to be null."""
    return tuple(_nullable(api_named(api).response.message_spec.root, ""))


def _nullable(struct: StructSpec, outer: str) -> Iterator[str]:
    for field in struct.fields:
        if field.nullable:
            yield f"{outer}{field.name}"
        if field.struct is not None:
            yield from _nullable(field.struct, f"{outer}{field.name}.")


def apis_with_nullable_fields() -> tuple[str, ...]:
    """Return the names of the APIs with such fields in their responses, by key."""
    return tuple(api.name for api in APIS.values() if nullable_fields(api.name))
