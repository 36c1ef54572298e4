"""One plain ``__slots__`` class per struct, shared by all versions."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from harness.codec.definition import FieldSpec, MessageSpec, StructSpec

UNSET: Any = object()  # an argument that was not given; None means null
_SHOWN_BYTES = 48
_SHOWN_ELEMENTS = 32


class Struct:
    """Base of all message classes: keyword-only constructor, equality, readable repr.

    ``unknown_tagged_fields`` keeps tagged fields that the definition does not know, by tag.
    """

    __slots__ = ("unknown_tagged_fields",)
    spec: ClassVar[StructSpec]
    unknown_tagged_fields: dict[int, bytes]

    def __init__(self, **values: Any) -> None:
        self.unknown_tagged_fields = values.pop("unknown_tagged_fields", None) or {}
        for name, make in _MAKERS[type(self)].items():
            given = values.pop(name, UNSET)
            setattr(self, name, make() if given is UNSET else given)
        if values:
            names = ", ".join(sorted(values))
            raise TypeError(f"{type(self).__name__} has no field {names}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in _MAKERS[type(self)]) and (
            self.unknown_tagged_fields == other.unknown_tagged_fields
        )

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        """Only what differs from the default; long bytes and long lists are cut."""
        shown = [
            f"{name}={_short(getattr(self, name))}"
            for name, make in _MAKERS[type(self)].items()
            if getattr(self, name) != make()
        ]
        if self.unknown_tagged_fields:
            shown.append(f"unknown_tagged_fields={self.unknown_tagged_fields!r}")
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Message(Struct):
    """Base of the classes at the root of a message."""

    __slots__ = ()
    message_spec: ClassVar[MessageSpec]


R_co = TypeVar("R_co", covariant=True)


class Request(Message, Generic[R_co]):
    """Base of requests; its parameter is the class of the response (for type checkers)."""

    __slots__ = ()


_MAKERS: dict[type[Struct], dict[str, Any]] = {}


def _short(value: Any) -> str:
    if isinstance(value, bytes) and len(value) > _SHOWN_BYTES:
        return f"{value[:_SHOWN_BYTES]!r}... ({len(value)} bytes)"
    if isinstance(value, list) and len(value) > _SHOWN_ELEMENTS:
        shown = ", ".join([_short(element) for element in value[:_SHOWN_ELEMENTS]])
        return f"[{shown}, ... ({len(value)} elements)]"
    return repr(value)


def build_message_class(spec: MessageSpec) -> type[Message]:
    """The class of a message; its nested structs are attributes of it."""
    nested = {name: _build(struct, Struct, spec.name) for name, struct in spec.structs.items()}
    root = _build(spec.root, Request if spec.type == "request" else Message, "")
    assert issubclass(root, Message)
    root.message_spec = spec
    for name, made in nested.items():
        setattr(root, name, made)
    for made, struct in [(root, spec.root), *((nested[n], s) for n, s in spec.structs.items())]:
        _MAKERS[made] = {f.name: _maker(f, nested) for f in struct.fields}
    return root


def _build(spec: StructSpec, base: type[Struct], owner: str) -> type[Struct]:
    body = {
        "__slots__": tuple(f.name for f in spec.fields),
        "__module__": "harness.codec.messages",
        "__qualname__": f"{owner}.{spec.name}" if owner else spec.name,
        "spec": spec,
        "__doc__": SchemaDocstring(),
    }
    return type(spec.name, (base,), body)


def _maker(field: FieldSpec, nested: dict[str, type[Struct]]) -> Any:
    """A function of no arguments that makes the field's default."""
    default = field.default
    if field.default_is_null:
        return lambda: None
    if field.kind == "array":
        return list
    if field.kind == "struct":
        assert field.struct is not None
        return nested[field.struct.name]
    return lambda: default


def default_of(cls: type[Struct], name: str) -> Any:
    """A fresh default of one field."""
    return _MAKERS[cls][name]()


class SchemaDocstring:
    """Stands as ``__doc__`` in the classes: made from the definition when somebody asks."""

    def __get__(self, _instance: object, owner: type[Struct]) -> str:
        from harness.codec.docstring import docstring_of

        return docstring_of(owner)
