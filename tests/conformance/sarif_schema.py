"""The objects of SARIF 2.1.0 that this project writes: members, types, which of them are required.

OASIS, Static Analysis Results Interchange Format 2.1.0, section 3; a member that the standard does
not define for an object is refused.
"""

from __future__ import annotations

from typing import Any, Final


def _object(required: str, **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "properties": members,
        "additionalProperties": False,
    }


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


TEXT: Final = {"type": "string", "minLength": 1}
LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}
MULTIFORMAT: Final = _object("text", text=TEXT, markdown=TEXT)
RULE: Final = _object(
    "id",
    id=TEXT,
    shortDescription=MULTIFORMAT,
    fullDescription=MULTIFORMAT,
    help=MULTIFORMAT,
    helpUri={"type": "string", "format": "uri"},
    defaultConfiguration=_object("", level=LEVEL),
)
ARTIFACT: Final = _object("", uri={"type": "string", "format": "uri-reference"})
LOCATION: Final = _object(
    "",
    physicalLocation=_object("artifactLocation", artifactLocation=ARTIFACT),
    logicalLocations=_list(_object("", name=TEXT, fullyQualifiedName=TEXT, kind=TEXT)),
)
RESULT: Final = _object(
    "message ruleId ruleIndex",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=_object("text", text=TEXT),
    locations=_list(LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)
DRIVER: Final = _object("name", name=TEXT, semanticVersion=TEXT, rules=_list(RULE))
RUN: Final = _object("tool results", tool=_object("driver", driver=DRIVER), results=_list(RESULT))
SARIF_SCHEMA: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object("version runs", version={"const": "2.1.0"}, runs=_list(RUN)),
}
SARIF_SCHEMA["properties"]["$schema"] = {"type": "string", "format": "uri"}
