"""Defects in one row: a broker gives a field of its answers, or takes one of a request, wrongly.

A field is named by its path, as in ``topics.partitions.error_code``: each element of an array
counts. A path that the message does not have is refused when the row is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial

from harness.codec.apis import api_of
from harness.codec.structs import Message, Struct, nested_class
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect
from labs.defects.edited_answer import Asked, EditedAnswers, any_request
from labs.defects.edited_request import EditedRequests

ANY = object()
"""In place of the old value of a field: whatever it is."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """New values of the fields of some structs in a message.

    Attributes:
        place: fields that lead to the structs, all of them arrays of structs.
        becomes: the new values, by field of such a struct.
        conditions: for the message and each array of ``place`` the values, by field, that a
            struct there must have. A frozenset lists several values.
    """

    place: tuple[str, ...]
    becomes: Mapping[str, object]
    conditions: tuple[Mapping[str, object], ...]

    def apply(self, message: Message) -> None:
        """Change the message in place."""
        self._apply(message, 0)

    def _apply(self, struct: Struct, depth: int) -> None:
        if not _has(struct, self.conditions[depth]):
            return
        if depth < len(self.place):
            for inner in getattr(struct, self.place[depth]):
                self._apply(inner, depth + 1)
            return
        for name, value in self.becomes.items():
            setattr(struct, name, copy(value))


def _has(struct: Struct, values: Mapping[str, object]) -> bool:
    """True if the fields have these values. A frozenset lists several."""
    return all(
        found in wanted if isinstance(wanted, frozenset) else found == wanted
        for found, wanted in ((getattr(struct, name), wanted) for name, wanted in values.items())
    )


def changed_field(
    requirement: str,
    name: str,
    reason: str,
    meaning: str,
    message: type[Message],
    field: str,
    was: object,
    becomes: object,
    versions: range | None = None,
    *,
    where: Mapping[str, object] | None = None,
    also: Mapping[str, object] | None = None,
    requested: Mapping[str, object] | None = None,
    asked: Asked = any_request,
) -> Defect:
    """Make a defect that changes a field from one value to another.

    Args:
        requirement: the requirement that must notice it.
        name: the name of the defect.
        reason: the pattern of the reason; see :class:`labs.defects.defect.Defect`.
        meaning: the mistake of the broker, in one sentence.
        message: the request or response.
        field: the path of the field.
        was: the value that it must have, or a frozenset of values, or ``ANY``.
        becomes: the value that it gets.
        versions: only messages at these versions; all of them by default.
        where: values that other fields must have, by path, in the same or an enclosing struct.
        also: values of other fields of the same struct, by name.
        requested: only answers to requests that have these values, by field of the request.
        asked: only answers to requests for which it is true.

    Raises:
        ValueError: the message has no such field, or a change of requests has a condition for
            answers.
    """
    conditions = {**({} if was is ANY else {field: was}), **(where or {})}
    change = _change(message, field, becomes, conditions, also or {})
    if message.message_spec.type == "request":
        if requested or asked is not any_request:
            raise ValueError(f"{name}: requested and asked are conditions for answers")
        made: Callable[[], FrameRule] = partial(EditedRequests, message, change.apply, versions)
    else:
        edit = _edit_if_asked(change, message, requested or {}, asked)
        made = partial(EditedAnswers, message, edit, versions)
    return Defect(name, requirement, reason, made, meaning)


def _edit_if_asked(
    change: FieldChange, response: type[Message], requested: Mapping[str, object], asked: Asked
) -> Callable[[SeenRequest, Message], None]:
    _require(api_of(response).request, requested)

    def edit(seen: SeenRequest, answer: Message) -> None:
        assert seen.message is not None
        if _has(seen.message, requested) and asked(seen):
            change.apply(answer)

    return edit


def _change(
    message: type[Message],
    field: str,
    becomes: object,
    conditions: Mapping[str, object],
    also: Mapping[str, object],
) -> FieldChange:
    *place, last = field.split(".")
    at_depth: list[dict[str, object]] = [{} for _ in range(len(place) + 1)]
    for path, value in conditions.items():
        *outer, name = path.split(".")
        if outer != place[: len(outer)]:
            raise ValueError(f"{path} is not in a struct that encloses {field}")
        at_depth[len(outer)][name] = value
    change = FieldChange(tuple(place), {last: becomes, **also}, tuple(at_depth))
    _require_fields(message, change)
    return change


def _require_fields(message: type[Message], change: FieldChange) -> None:
    struct: type[Struct] = message
    for conditions, name in zip(change.conditions, change.place, strict=False):
        _require(struct, {*conditions, name})
        (array,) = [field for field in struct.spec.fields if field.name == name]
        if array.kind != "array" or array.struct is None:
            raise ValueError(f"{struct.__qualname__}.{name} is no array of structs")
        struct = nested_class(message, array)
    _require(struct, {*change.conditions[-1], *change.becomes})


def _require(struct: type[Struct], names: Iterable[str]) -> None:
    unknown = sorted({*names} - {field.name for field in struct.spec.fields})
    if unknown:
        raise ValueError(f"{struct.__qualname__} has no field {', '.join(unknown)}")
