"""The typed form of a message definition: the fields of a message and their versions.

Plain classes, no dataclasses: encoding a message must not wait for the import of ``inspect``.
"""

from __future__ import annotations

import uuid

from harness.codec.versions import HIGHEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.codec.layout import Layout
    from harness.codec.versions import VersionRange

ZERO_UUID = uuid.UUID(int=0)
INT_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
SCALARS = frozenset({*INT_RANGES, "bool", "float64", "uuid", "string", "bytes", "records"})


class FieldSpec:
    """One field; ``kind`` is a scalar's name, ``array`` or ``struct``."""

    __slots__ = (
        *("name", "kind", "element", "struct", "versions", "nullable", "tagged", "tag"),
        *("default", "ignorable", "flexible"),
    )

    def __init__(
        self,
        name: str,
        kind: str,
        element: str,
        struct: StructSpec | None,
        versions: VersionRange,
        nullable: VersionRange,
        tagged: VersionRange,
        tag: int,
        default: Any,
        ignorable: bool,
        flexible: VersionRange | None,
    ) -> None:
        self.name = name  # snake_case, the attribute's name
        self.kind = kind
        self.element = element  # of an array: a scalar's name or "struct"
        self.struct = struct  # of a struct or an array of structs
        self.versions = versions
        self.nullable = nullable
        self.tagged = tagged
        self.tag = tag
        self.default = default  # None where null; ... for a struct, which is made of its fields
        self.ignorable = ignorable
        self.flexible = flexible  # overrides the message's (string and bytes only)

    @property
    def default_is_null(self) -> bool:
        return self.default is None

    @property
    def made_when_asked(self) -> bool:
        """True if the default is made only on first access.

        This holds for structs, and for arrays that some versions lack or have tagged: most of them
        have their default and are never read.
        """
        if self.default is None or self.kind not in ("array", "struct"):
            return False
        everywhere = self.versions.lowest == 0 and self.versions.highest == HIGHEST
        return self.kind == "struct" or bool(self.tagged) or not everywhere

    def __repr__(self) -> str:
        return f"FieldSpec({self.name}: {self.kind} {self.versions})"


class StructSpec:
    """A named list of fields."""

    __slots__ = ("fields", "name", "versions")

    def __init__(
        self, name: str, versions: VersionRange, fields: list[FieldSpec] | None = None
    ) -> None:
        self.name, self.versions = name, versions
        self.fields: list[FieldSpec] = fields if fields is not None else []

    def __repr__(self) -> str:
        return f"StructSpec({self.name} {self.versions}: {len(self.fields)} fields)"


class MessageSpec:
    """A whole message: its root struct and the versions it exists in."""

    __slots__ = (
        *("name", "type", "api_key", "valid", "flexible", "unstable_highest", "root", "structs"),
        "layouts",
    )

    def __init__(
        self,
        name: str,
        type: str,  # noqa: A002  # Kafka's word
        api_key: int | None,
        valid: VersionRange,
        flexible: VersionRange,
        unstable_highest: bool,
        root: StructSpec,
        structs: dict[str, StructSpec],
    ) -> None:
        self.name = name
        self.type = type  # request, response, header, data, ...
        self.api_key = api_key
        self.valid = valid
        self.flexible = flexible
        self.unstable_highest = unstable_highest
        self.root = root
        self.structs = structs  # all but the root, by name
        self.layouts: dict[tuple[int, int], Layout] = {}  # those asked for: see layout()

    def __repr__(self) -> str:
        return f"MessageSpec({self.name} {self.valid})"
