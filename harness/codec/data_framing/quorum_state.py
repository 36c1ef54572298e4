"""The file ``quorum-state`` of a voter: ``QuorumStateData`` as one line of JSON text.

Names are in camelCase, UUIDs url-safe base64, the version is the member ``data_version``. Source:
``FileQuorumStateStore`` (``FileBasedStateStore`` in older releases).
"""

from __future__ import annotations

import json
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.codec import messages
from harness.codec.errors import DecodeError
from harness.codec.specs import INT_RANGES, FieldSpec
from harness.codec.structs import Message, Struct, nested_class

if TYPE_CHECKING:
    from harness.codec.messages import QuorumStateData

DATA_VERSION = "data_version"


class QuorumState(NamedTuple):
    """The content of a voter's file ``quorum-state``, and its version."""

    version: int
    message: QuorumStateData


def read_quorum_state(text: str) -> QuorumState:
    """The file ``quorum-state``: one line of JSON. Raises DecodeError (its offset is always 0)."""
    cls = messages.QuorumStateData
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _fail(cls.__name__, -1, f"not JSON: {error}", "") from error
    if not isinstance(found, dict) or DATA_VERSION not in found:
        problem = f"an object with {DATA_VERSION} expected"
        raise _fail(cls.__name__, -1, problem, DATA_VERSION)
    version = found[DATA_VERSION]
    if type(version) is not int or version not in cls.message_spec.valid:
        problem = f"{version!r} is none of {cls.message_spec.valid}"
        raise _fail(cls.__name__, -1, problem, DATA_VERSION)
    message = _struct(cls, cls, version, found, "")
    assert isinstance(message, cls)
    return QuorumState(version, message)


def _struct(root: type[Message], cls: type[Struct], version: int, found: Any, path: str) -> Struct:
    if not isinstance(found, dict):
        problem = f"an object expected, not {found!r}"
        raise _fail(root.__name__, version, problem, path.removesuffix("."))
    made = {}
    for field in _fields(cls, version):
        name, where = _camel_case(field.name), f"{path}{field.name}"
        if name not in found:
            raise _fail(root.__name__, version, f"{name} is missing", where)
        made[field.name] = _value(root, field, version, found[name], where)
    return cls(**made)


def _value(root: type[Message], field: FieldSpec, version: int, value: Any, path: str) -> Any:
    if value is None and version in field.nullable:
        return None
    wanted = _JSON_TYPES[field.kind]
    if type(value) is not wanted:
        problem = f"{wanted.__name__} expected, not {value!r}"
        raise _fail(root.__name__, version, problem, path)
    low, high = INT_RANGES.get(field.kind, (None, None))
    if low is not None and not low <= value <= high:
        raise _fail(root.__name__, version, f"{value} is no {field.kind}", path)
    if field.kind == "array":
        element = nested_class(root, field)
        return [
            _struct(root, element, version, one, f"{path}[{index}].")
            for index, one in enumerate(value)
        ]
    if field.kind != "uuid":
        return value
    try:
        return uuid.UUID(bytes=urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except ValueError as error:
        raise _fail(root.__name__, version, f"not a UUID: {value!r}", path) from error


_JSON_TYPES: dict[str, Any] = {
    "string": str,
    "int32": int,
    "int64": int,
    "uuid": str,
    "array": list,
}


def quorum_state_text(message: QuorumStateData, version: int) -> str:
    """The one line of the file, as Kafka writes it."""
    made = {**_object(message, version), DATA_VERSION: version}
    return json.dumps(made, separators=(",", ":"), ensure_ascii=False)


def _object(value: Struct, version: int) -> dict[str, Any]:
    names = [field.name for field in _fields(type(value), version)]
    return {_camel_case(name): _out(getattr(value, name), version) for name in names}


def _fields(cls: type[Struct], version: int) -> Iterator[FieldSpec]:
    return (field for field in cls.spec.fields if version in field.versions)


def _out(value: Any, version: int) -> Any:
    if isinstance(value, list):
        return [_object(one, version) for one in value]
    if isinstance(value, uuid.UUID):
        return urlsafe_b64encode(value.bytes).decode().rstrip("=")
    return value


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _fail(message: str, version: int, problem: str, path: str) -> DecodeError:
    return DecodeError(problem, message=message, version=version, path=path, offset=0)
