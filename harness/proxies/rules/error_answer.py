"""An error response of a broker: for every topic, partition, group, ... of a request.

Response and request are walked together. The response gets an element for each thing of its kind
that the request names. Where the response has no such names, it gets one for each element of the
request's array that has most fields in common with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.codec.layout import Slot, layout
from harness.codec.specs import FieldSpec, StructSpec
from harness.codec.structs import Message, Struct, nested_class
from harness.proxies.rules.errors import Skip
from harness.proxies.rules.mentions import Role, role_of
from harness.proxies.rules.values import is_error_code

_ORDER = (Role.GROUP, Role.TRANSACTIONAL_ID, Role.TOPIC, Role.PARTITION)
_COUNTERPARTS = {
    ("CreateAclsResponse", "results"): "creations",
    ("DeleteAclsResponse", "filter_results"): "filters",
    ("AlterClientQuotasResponse", "entries"): "entries",
}
"""Arrays of responses that have no field in common with the array of the request they answer."""
_KEYED = {("FindCoordinatorResponse", "coordinators"): ("coordinator_keys", "key")}
"""Arrays of responses with one element for each plain value of the request's array."""


_BESIDE_AN_ERROR: dict[str, Any] = {
    "base_offset": -1,
    "committed_offset": -1,
    "generation_id": -1,
    "high_watermark": -1,
    "low_watermark": -1,
    "node_id": -1,
    "producer_epoch": -1,
    "producer_id": -1,
    "records": b"",
}
"""The values of Apache Kafka's brokers beside an error; other fields have their default."""
_EMPTY: dict[str, Any] = {"array": [], "bytes": b"", "records": b"", "string": ""}


@dataclass(frozen=True, slots=True)
class _Context:
    """The state of both walks: the part of the request, and the values that are settled by now."""

    twin: Struct
    settled: dict[Role, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)  # fields of the element itself

    def on(self, twin: Struct, settled: dict[Role, Any]) -> _Context:
        return _Context(twin, {**self.settled, **settled})


def error_answer(request: Message, cls: type[Message], version: int, code: int) -> Message:
    """Return the answer with this error. Raises Skip where the answer has no place for one."""
    building = _Building(type(request), cls, version, code)
    made = building.struct(cls, _Context(request), "")
    if not building.placed:
        raise Skip(f"{cls.__name__} v{version} to this request has no place for an error")
    assert isinstance(made, cls)
    return made


class _Building:
    def __init__(
        self, asked: type[Message], answer: type[Message], version: int, code: int
    ) -> None:
        self.asked, self.answer = asked, answer
        self.version, self.code, self.placed = version, code, 0

    def struct(self, cls: type[Struct], context: _Context, inside: str) -> Struct:
        given = dict(context.own)
        for slot in self.slots(self.answer, cls.spec):
            found = slot.field
            if is_error_code(found.name):
                value: Any = self.code
                self.placed += 1
            elif found.kind == "array" and found.element == "struct":
                value = self.elements(found, context) or None
            elif found.kind in ("array", "struct"):
                value = None
            else:
                value = self.plain(found, context, inside)
            if value is None and found.default is None and not slot.nullable:
                value = _EMPTY[found.kind]
            if value is not None:
                given.setdefault(found.name, value)
        return cls(**given)

    def slots(self, root: type[Message], spec: StructSpec) -> list[Slot]:
        own = layout(root.message_spec, spec, self.version)
        return [*own.plain, *own.tagged.values()]

    def carried(self, root: type[Message], spec: StructSpec) -> list[FieldSpec]:
        return [slot.field for slot in self.slots(root, spec)]

    def plain(self, found: FieldSpec, context: _Context, inside: str) -> Any:
        """Return the settled value, else that of the request's field of the same name and kind."""
        role = role_of(found, inside)
        if role in context.settled:
            return context.settled[role]
        if inside:  # the response's own fields are not those of the request
            for asked in self.carried(self.asked, context.twin.spec):
                if asked.name == found.name and asked.kind == found.kind:
                    return getattr(context.twin, found.name)
        return _BESIDE_AN_ERROR.get(found.name)

    def elements(self, found: FieldSpec, context: _Context) -> list[Struct]:
        assert found.struct is not None
        if not self.has_error(found.struct):
            return []
        cls = nested_class(self.answer, found)
        return [self.struct(cls, one, found.name) for one in self.contexts(found, context)]

    def has_error(self, spec: StructSpec, depth: int = 0) -> bool:
        return depth < _DEEPEST and any(
            is_error_code(one.name) or (one.struct and self.has_error(one.struct, depth + 1))
            for one in self.carried(self.answer, spec)
        )

    def contexts(self, found: FieldSpec, context: _Context) -> list[_Context]:
        """Return a context for each element of the response's array."""
        key = (self.answer.__name__, found.name)
        if key in _KEYED:
            asked, name = _KEYED[key]
            keys = getattr(context.twin, asked)
            return [_Context(context.twin, context.settled, {name: one}) for one in keys]
        assert found.struct is not None
        roles = {role_of(one, found.name) for one in self.carried(self.answer, found.struct)}
        roles |= {Role.TOPIC} if Role.TOPIC_ID in roles else set()
        wanted = [role for role in _ORDER if role in roles]
        if not wanted or all(role in context.settled for role in wanted):
            return list(self.counterparts(found, context))
        contexts = [context]
        for role in wanted:
            contexts = [
                new
                for one in contexts
                for new in ([one] if role in one.settled else self.spoken_of(one.twin, role, one))
            ]
        return contexts

    def spoken_of(
        self, twin: Struct, role: Role, context: _Context, inside: str = ""
    ) -> Iterator[_Context]:
        """Yield a context for each thing of this kind that this part of the request names."""
        fields = self.carried(self.asked, twin.spec)
        direct = [one for one in fields if self.kind_of(one, inside) is role]
        settled: dict[Role, Any] = {}
        for one in direct:
            held = getattr(twin, one.name)
            if isinstance(held, list):
                yield from (context.on(twin, {role: value}) for value in held)
            else:
                settled[role_of(one, inside) or role] = held
        if settled:
            yield context.on(twin, settled if role is not Role.TOPIC else {role: None, **settled})
        if direct:
            return
        for one in fields:
            if one.kind == "array" and one.element == "struct":
                for inner in getattr(twin, one.name) or ():
                    yield from self.spoken_of(inner, role, context, one.name)

    def kind_of(self, found: FieldSpec, inside: str) -> Role | None:
        role = role_of(found, inside)
        return Role.TOPIC if role is Role.TOPIC_ID else role

    def counterparts(self, found: FieldSpec, context: _Context) -> Iterator[_Context]:
        """The elements of the request's array that is answered by this one."""
        assert found.struct is not None
        names = {one.name for one in self.carried(self.answer, found.struct)}
        named = _COUNTERPARTS.get((self.answer.__name__, found.name))
        best, most = named, 0
        for one in self.carried(self.asked, context.twin.spec):
            if named is None and one.element == "struct" and one.struct is not None:
                inner = {part.name for part in self.carried(self.asked, one.struct)}
                if len(inner & names) > most:
                    best, most = one.name, len(inner & names)
        for element in (getattr(context.twin, best) if best else None) or ():
            yield context.on(element, {})


_DEEPEST = 8  # a struct may hold itself
