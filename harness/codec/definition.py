"""Message definitions: from Kafka's JSON grammar to a typed form.

The grammar (JSON with ``//`` comments) is the one Apache Kafka's own message generator reads;
see the README beside its ``common/message`` definitions. A definition of ours holds every
version that was ever released. This is for people, tools and tests: a message is loaded from the
compact form that is made of the definitions.
"""

from __future__ import annotations

import json
import re
from keyword import iskeyword
from typing import Any, TypeVar

from harness.codec.errors import DefinitionError
from harness.codec.specs import (
    INT_RANGES,
    SCALARS,
    ZERO_UUID,
    FieldSpec,
    MessageSpec,
    StructSpec,
)
from harness.codec.versions import NO_VERSIONS, VersionRange

__all__ = [
    "INT_RANGES",
    "MESSAGE_TYPES",
    "NEVER_NULL",
    "SCALARS",
    "ZERO_UUID",
    "FieldSpec",
    "MessageSpec",
    "StructSpec",
    "parse_definition",
    "snake_case",
]
T = TypeVar("T")
NEVER_NULL = frozenset({*INT_RANGES, "bool", "float64", "uuid"})
MESSAGE_TYPES = (
    *("request", "response", "header", "data", "metadata"),
    *("coordinator-key", "coordinator-value"),
)
_COMMENT_LINE = re.compile(r"^\s*//.*$", re.MULTILINE)
_TAKEN = frozenset({"spec", "message_spec", "unknown_tagged_fields"})  # attributes of every struct
_MESSAGE_KEYS = frozenset(
    {
        *("name", "type", "apiKey", "listeners", "validVersions", "flexibleVersions"),
        *("deprecatedVersions", "latestVersionUnstable", "commonStructs", "fields"),
    }
)
_KNOWN_KEYS = frozenset(
    {
        *("name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "default"),
        *("ignorable", "mapKey", "entityType", "flexibleVersions", "zeroCopy", "about", "fields"),
    }
)


def snake_case(name: str) -> str:
    """``TopicId`` -> ``topic_id``."""
    split = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", split).lower()


def parse_definition(text: str, where: str) -> MessageSpec:
    """The typed form of one definition file; ``where`` names it in errors (DefinitionError)."""
    try:
        raw = json.loads(_COMMENT_LINE.sub("", text))
    except json.JSONDecodeError as error:
        raise DefinitionError(f"{where}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise DefinitionError(f"{where}: an object expected, not {type(raw).__name__}")
    return _Parser(where, raw).message()


class _Parser:
    def __init__(self, where: str, raw: dict[str, Any]) -> None:
        self.where, self.raw = where, raw
        self.structs: dict[str, StructSpec] = {}
        self.common = {
            self.of_type(struct, "name", str, "commonStructs"): struct
            for struct in self.objects(raw, "commonStructs", "message")
        }

    def fail(self, place: str, problem: str) -> DefinitionError:
        return DefinitionError(f"{self.where}: {place}: {problem}")

    def objects(self, raw: dict[str, Any], key: str, place: str) -> list[dict[str, Any]]:
        """A list of objects that may be left out."""
        found = raw.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.fail(place, f"{key} must be a list of objects")
        return found

    def of_type(
        self, raw: dict[str, Any], key: str, wanted: type[T], place: str, default: T | None = None
    ) -> T:
        """Return an attribute of the JSON type ``wanted``; without a default it is required."""
        if key not in raw and default is not None:
            return default
        value = raw.get(key)
        if type(value) is not wanted:
            problem = "is missing" if key not in raw else f"must be {wanted.__name__}: {value!r}"
            raise self.fail(place, f"{key} {problem}")
        return value

    def versions(
        self, raw: dict[str, Any], key: str, place: str, default: VersionRange
    ) -> VersionRange:
        if key not in raw:
            return default
        try:
            return VersionRange.parse(raw[key])
        except (ValueError, TypeError) as error:
            raise self.fail(f"{place}.{key}", str(error)) from error

    def message(self) -> MessageSpec:
        raw = self.raw
        unknown = set(raw) - _MESSAGE_KEYS
        if unknown:
            raise self.fail("message", f"unknown attribute {min(unknown)!r}")
        name, type_ = (self.of_type(raw, key, str, "message") for key in ("name", "type"))
        if type_ not in MESSAGE_TYPES:
            raise self.fail("message.type", f"{type_!r} is none of {', '.join(MESSAGE_TYPES)}")
        if type_ in ("request", "response"):
            self.of_type(raw, "apiKey", int, "message")
        self.of_type(raw, "validVersions", str, "message")
        valid = self.versions(raw, "validVersions", "message", NO_VERSIONS)
        root = StructSpec(name, valid)
        root.fields = self.fields(raw, name)
        return MessageSpec(
            name=name,
            type=type_,
            api_key=raw.get("apiKey"),
            valid=valid,
            flexible=self.versions(raw, "flexibleVersions", "message", NO_VERSIONS),
            unstable_highest=self.of_type(raw, "latestVersionUnstable", bool, "message", False),
            root=root,
            structs=self.structs,
        )

    def fields(self, owner: dict[str, Any], place: str) -> list[FieldSpec]:
        raws = self.objects(owner, "fields", place)
        specs = [self.field(raw, f"{place}.{raw.get('name', '?')}") for raw in raws]
        names = [spec.name for spec in specs]
        if len(set(names)) != len(names):
            raise self.fail(place, "two fields have the same name")
        tags = sorted(spec.tag for spec in specs if spec.tagged)
        if tags != list(range(len(tags))):
            raise self.fail(place, f"tags must be unique and count from 0, not {tags}")
        return specs

    def field(self, raw: dict[str, Any], place: str) -> FieldSpec:
        unknown = set(raw) - _KNOWN_KEYS
        if unknown:
            raise self.fail(place, f"unknown attribute {min(unknown)!r}")
        name = self.of_type(raw, "name", str, place)
        if not name.isidentifier() or iskeyword(snake_case(name)) or snake_case(name) in _TAKEN:
            raise self.fail(place, f"{name!r} cannot be the name of an attribute")
        tagged = self.versions(raw, "taggedVersions", place, NO_VERSIONS)
        if bool(tagged) != ("tag" in raw):
            raise self.fail(place, "tag and taggedVersions belong together")
        kind, element, struct = self.type_of(raw, place)
        nullable = self.versions(raw, "nullableVersions", place, NO_VERSIONS)
        if nullable and kind in NEVER_NULL:
            raise self.fail(place, f"a field of type {kind} cannot be nullable")
        return FieldSpec(
            name=snake_case(name),
            kind=kind,
            element=element,
            struct=struct,
            versions=self.versions(raw, "versions", place, tagged),
            nullable=nullable,
            tagged=tagged,
            tag=self.tag(raw, place),
            default=self.default(raw, kind, nullable, place),
            ignorable=self.of_type(raw, "ignorable", bool, place, False),
            flexible=self.versions(raw, "flexibleVersions", place, NO_VERSIONS)
            if "flexibleVersions" in raw
            else None,
        )

    def tag(self, raw: dict[str, Any], place: str) -> int:
        """-1 when there is none. Releases up to 3.9 have one written as text."""
        if isinstance(raw.get("tag"), str) and raw["tag"].isdecimal():
            return int(raw["tag"])
        return self.of_type(raw, "tag", int, place, -1)

    def type_of(self, raw: dict[str, Any], place: str) -> tuple[str, str, StructSpec | None]:
        name = self.of_type(raw, "type", str, place)
        array = name.startswith("[]")
        base = name[2:] if array else name
        if base in SCALARS:
            return ("array", base, None) if array else (base, "", None)
        struct = self.struct(base, raw, place)
        return ("array", "struct", struct) if array else ("struct", "", struct)

    def struct(self, name: str, raw: dict[str, Any], place: str) -> StructSpec:
        if name in self.structs and "fields" not in raw:
            return self.structs[name]
        source = raw if "fields" in raw else self.common.get(name)
        if source is None or not name.isidentifier():
            raise self.fail(
                place, f"type {name!r} is no scalar, has no fields and is no common struct"
            )
        if name in self.structs:
            raise self.fail(place, f"struct {name!r} is defined twice")
        spec = StructSpec(name, self.versions(source, "versions", place, NO_VERSIONS))
        self.structs[name] = spec  # before its fields: a struct may contain itself
        spec.fields = self.fields(source, f"{place}.{name}")
        return spec

    def default(self, raw: dict[str, Any], kind: str, nullable: VersionRange, place: str) -> Any:
        value = raw.get("default")
        if value == "null":
            if not nullable:
                raise self.fail(place, 'default "null" on a field that is never nullable')
            return None
        try:
            return _default_of(kind, value)
        except (ValueError, TypeError) as error:
            raise self.fail(f"{place}.default", str(error)) from error


def _default_of(kind: str, value: Any) -> Any:
    if kind in INT_RANGES:
        number = int(value, 0) if isinstance(value, str) and value else int(value or 0)
        low, high = INT_RANGES[kind]
        if not low <= number <= high:
            raise ValueError(f"{number} is outside {kind}")
        return number
    if kind == "bool":
        if value not in (None, True, False, "true", "false", ""):
            raise ValueError(f"{value!r} is neither true nor false")
        return value in (True, "true")
    if kind == "float64":
        return float(value or 0)
    if kind == "records":
        return None
    if kind == "string":
        return str(value or "")
    if value:
        raise ValueError(f"a {kind} can only be empty or null by default, not {value!r}")
    return {"uuid": ZERO_UUID, "bytes": b"", "array": [], "struct": ...}[kind]
