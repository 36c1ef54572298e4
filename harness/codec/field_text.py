"""Short texts about a field of a definition: its type, its default, the name of its parts."""

from __future__ import annotations

from harness.codec.specs import INT_RANGES, ZERO_UUID, FieldSpec

_MADE_OF_PARTS = {"array": "empty", "struct": "all at their defaults"}
_PLAIN_LIMIT = 9999  # larger numbers are limits of a type or bit masks: said in hex too


def type_text(field: FieldSpec) -> str:
    """As definitions write it: ``int32``, ``[]string``, ``[]FetchTopic``, ``LeaderIdAndEpoch``."""
    inner = field.struct.name if field.struct else field.element
    if field.kind == "array":
        return f"[]{inner}"
    return inner if field.kind == "struct" else field.kind


def default_text(field: FieldSpec) -> str:
    """The default of the field, as text."""
    default = field.default
    if default is None:
        return "null"
    if field.kind in _MADE_OF_PARTS:
        return _MADE_OF_PARTS[field.kind]
    if field.kind in ("string", "bytes"):
        return f'"{default}"' if default else "empty"
    if field.kind in INT_RANGES and abs(default) > _PLAIN_LIMIT:
        return f"{default} ({default:#x})"
    return str(default).lower()  # true and false as definitions write them


def has_plain_default(field: FieldSpec) -> bool:
    """The default is what everybody expects: zero, false, empty, or null where records are."""
    if field.kind in ("array", "struct"):
        return not field.default_is_null
    if field.kind == "records":
        return True
    return field.default in (0, "", b"", ZERO_UUID) and field.default is not None
