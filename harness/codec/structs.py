"""One plain ``__slots__`` class per struct, shared by all versions."""

from __future__ import annotations

from harness.codec.secret_fields import SHOWN, is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Generic, TypeVar

    from harness.codec.specs import FieldSpec, MessageSpec, StructSpec

    R_co = TypeVar("R_co", covariant=True)

_SHOWN_BYTES = 48
_SHOWN_ELEMENTS = 32


class _StructType(type):
    """Metaclass that makes structs from keyword arguments.

    The classes have no ``__init__``: decoders call ``type.__call__`` itself (``bare``) to make an
    object and then set all its fields, which is the fastest way without C.
    """

    __doc__ = type.__dict__["__doc__"]  # else help() takes the text above for that of a struct

    def __call__(cls: Any, **values: Any) -> Any:
        make = _constructors.get(cls)
        if make is None:
            from harness.codec.generate_constructor import generate_constructor

            make = _constructors[cls] = generate_constructor(cls)
        try:
            return make(**values)
        except TypeError:
            unknown = sorted(values.keys() - {*_MAKERS[cls], "unknown_tagged_fields"})
            if unknown:
                raise TypeError(f"{cls.__name__} has no field {', '.join(unknown)}") from None
            raise


if TYPE_CHECKING:
    _StructType = type  # type: ignore[assignment,misc]  # the stubs say how each class is made


class Struct(metaclass=_StructType):
    """Base of all message classes: keyword-only constructor, equality, readable repr.

    ``unknown_tagged_fields`` keeps tagged fields that the definition does not know, by tag. Its
    dict is made when it is first asked for: hardly any struct has such fields.
    """

    __slots__ = ("_tags",)
    spec: ClassVar[StructSpec]
    _tags: dict[int, bytes] | None
    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...

    def __init_subclass__(cls) -> None:
        base = cls.__base__
        if base is not None and hasattr(base, "spec"):
            raise TypeError(f"{base.__qualname__} has a definition, and no subclasses")

    @property
    def unknown_tagged_fields(self) -> dict[int, bytes]:
        if self._tags is None:
            self._tags = {}
        return self._tags

    @unknown_tagged_fields.setter
    def unknown_tagged_fields(self, tags: dict[int, bytes]) -> None:
        self._tags = tags

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in _MAKERS[type(self)]
        ) and ((self._tags or {}) == (other._tags or {}))

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        """Only what differs from the default; long bytes and long lists are cut, secrets hidden."""
        shown = [
            f"{name}={SHOWN if is_secret(self, name) else _short(getattr(self, name))}"
            for name in _MAKERS[type(self)]
            if getattr(self, name) != default_of(type(self), name)
        ]
        if self._tags:
            shown.append(f"unknown_tagged_fields={self._tags!r}")
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Message(Struct):
    """Base of the classes at the root of a message."""

    __slots__ = ()
    message_spec: ClassVar[MessageSpec]


if TYPE_CHECKING:

    class Request(Message, Generic[R_co]):
        """Base of requests; its parameter is the class of the response (for type checkers)."""

        __slots__ = ()
else:

    class Request(Message):
        """Base of requests; its parameter is the class of the response (for type checkers)."""

        __slots__ = ()

        def __class_getitem__(cls, _response: object) -> type[Request]:
            return cls


_MAKERS: dict[type, dict[str, Callable[[], Any]]] = {}  # of each field: what makes its default
_constructors: dict[type, Callable[..., Any]] = {}


def _short(value: Any) -> str:
    if isinstance(value, bytes) and len(value) > _SHOWN_BYTES:
        return f"{value[:_SHOWN_BYTES]!r}... ({len(value)} bytes)"
    if isinstance(value, list) and len(value) > _SHOWN_ELEMENTS:
        shown = ", ".join([_short(element) for element in value[:_SHOWN_ELEMENTS]])
        return f"[{shown}, ... ({len(value)} elements)]"
    return repr(value)


def bare(cls: type[Any]) -> Callable[[], Any]:
    """Return a function that makes an object without any field; its caller sets them all."""
    made: Callable[[], Any] = type.__call__.__get__(cls)
    return made


def slot_of(field: FieldSpec) -> str:
    """Where a struct keeps a field.

    A field that is made when asked for has a property before its slot, which holds ``...`` until
    then.
    """
    return f"_{field.name}" if field.made_when_asked else field.name


def build_message_class(spec: MessageSpec) -> type[Message]:
    """The class of a message; its nested structs are attributes of it."""
    nested: dict[str, type[Struct]] = {}
    for name, struct in spec.structs.items():
        nested[name] = _build(struct, Struct, spec.name, nested)
    root: type[Any] = _build(spec.root, Request if spec.type == "request" else Message, "", nested)
    root.message_spec = spec
    for name, made in nested.items():
        setattr(root, name, made)
    return root


def nested_class(root: type[Message], field: FieldSpec) -> type[Struct]:
    """The class of the struct, or of the array's structs, that a field of this message holds."""
    assert field.struct is not None
    found: type[Struct] = getattr(root, field.struct.name)
    return found


def _build(
    spec: StructSpec, base: type[Struct], owner: str, nested: dict[str, type[Struct]]
) -> type[Struct]:
    makers = {field.name: _maker(field, nested) for field in spec.fields}
    body: dict[str, Any] = {
        "__slots__": tuple([slot_of(field) for field in spec.fields]),
        "__module__": "harness.codec.messages",
        "__qualname__": f"{owner}.{spec.name}" if owner else spec.name,
        "spec": spec,
        "__doc__": SchemaDocstring(),
    }
    for field in spec.fields:
        if field.made_when_asked:
            body[field.name] = _made_when_asked(slot_of(field), makers[field.name])
    made: type[Any] = _StructType(spec.name, (base,), body)
    _MAKERS[made] = makers
    return made


def _made_when_asked(slot: str, make: Callable[[], Any]) -> property:
    def read(self: Struct) -> Any:
        value = getattr(self, slot)
        if value is ...:
            value = make()
            setattr(self, slot, value)
        return value

    def write(self: Struct, value: Any) -> None:
        setattr(self, slot, value)

    return property(read, write)


def _maker(field: FieldSpec, nested: dict[str, type[Struct]]) -> Callable[[], Any]:
    """A function of no arguments that makes the field's default."""
    default = field.default
    if default is None:
        return lambda: None
    if field.kind == "array":
        return list
    if field.kind == "struct":
        assert field.struct is not None
        name = field.struct.name
        return lambda: nested[name]()  # noqa: PLW0108  # it may still have to be made
    return lambda: default


def default_of(cls: type[Struct], name: str) -> Any:
    """A fresh default of one field."""
    return _MAKERS[cls][name]()


class SchemaDocstring:
    """The classes' ``__doc__``: makes the docstring from the definition on access."""

    def __get__(self, _instance: object, owner: type[Struct]) -> str:
        from harness.codec.docstring import docstring_of

        return docstring_of(owner)
