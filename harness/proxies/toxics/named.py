"""A toxic with its place: a name, a direction, and how many connections it strikes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from harness.base.suggestion import did_you_mean
from harness.proxies.direction import Direction
from harness.proxies.toxics.attributes import BadAttribute
from harness.proxies.toxics.toxic import Toxic
from harness.proxies.toxics.types import make_toxic

FIELDS = ("name", "type", "stream", "toxicity", "attributes")


class BadStream(ValueError):
    """Neither upstream nor downstream."""


@dataclass(slots=True)
class ToxicCounts:
    """The counters of a toxic, over all connections."""

    streams: int = 0  # that it is or was in, having struck them by its toxicity
    fired: int = 0  # pieces that it delayed, cut, changed, kept or lost, and marks that it made

    def to_json(self) -> dict[str, int]:
        return {"streams": self.streams, "fired": self.fired}


@dataclass(frozen=True, slots=True)
class NamedToxic:
    """``toxicity``: the share of connections that it strikes, 0 to 1. Raises BadAttribute."""

    name: str
    toxic: Toxic
    direction: Direction = Direction.DOWNSTREAM
    toxicity: float = 1.0
    counts: ToxicCounts = field(default_factory=ToxicCounts, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadAttribute(
                f"a toxic's name must be a string that says something: {self.name!r}"
            )
        _require_toxicity(self.toxicity)

    @classmethod
    def of(
        cls,
        toxic: Toxic,
        direction: Direction = Direction.DOWNSTREAM,
        toxicity: float = 1.0,
        name: str | None = None,
    ) -> Self:
        """Named as toxiproxy does, ``<type>_<stream>``, if no name is given."""
        return cls(name or f"{toxic.type}_{direction}", toxic, direction, toxicity)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """As toxiproxy's API has it: type, and optionally name, stream, toxicity, attributes.

        Raises UnknownToxicType, BadStream or BadAttribute.
        """
        _require_known(fields)
        direction = _direction(_get(fields, "stream", "downstream"))
        type_name = _get(fields, "type", "")
        if not isinstance(type_name, str):
            raise BadAttribute(f"type must be a string, not {type_name!r}")
        toxic = make_toxic(type_name, _attributes(fields))
        name = _get(fields, "name", "") or None
        return cls.of(toxic, direction, _get(fields, "toxicity", 1.0), name)

    def updated(self, fields: Mapping[str, Any]) -> Self:
        """Return it with other attributes or another toxicity; other fields can't be changed.

        Raises BadAttribute.
        """
        _require_known(fields)
        for name, value in self.to_json().items():
            if name not in ("attributes", "toxicity") and fields.get(name, value) != value:
                raise BadAttribute(f"{name} of a toxic can't be changed: remove it, add another")
        toxic = self.toxic.updated(_attributes(fields))
        return replace(self, toxic=toxic, toxicity=_get(fields, "toxicity", self.toxicity))

    def to_json(self) -> dict[str, Any]:
        """As toxiproxy's API has it."""
        return {
            "attributes": self.toxic.to_json(),
            "name": self.name,
            "type": self.toxic.type,
            "stream": str(self.direction),
            "toxicity": self.toxicity,
        }


def _get(fields: Mapping[str, Any], name: str, default: Any) -> Any:
    """The field; null says nothing, as in Go's JSON."""
    value = fields.get(name)
    return default if value is None else value


def _require_known(fields: Mapping[str, Any]) -> None:
    if not isinstance(fields, Mapping):
        raise BadAttribute(f"a toxic must be an object with {', '.join(FIELDS)}, not {fields!r}")
    for name in fields:
        if name not in FIELDS:
            raise BadAttribute(
                f'a toxic has no field "{name}"{did_you_mean(name, FIELDS)}; '
                f"it has {', '.join(FIELDS)}"
            )


def _direction(stream: Any) -> Direction:
    try:
        return Direction(stream.lower())
    except (AttributeError, ValueError):
        hint = did_you_mean(stream, Direction) if isinstance(stream, str) else ""
        raise BadStream(f"{stream!r}{hint}") from None


def _attributes(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = _get(fields, "attributes", {})
    if not isinstance(attributes, Mapping):
        raise BadAttribute(f"attributes must be an object, not {attributes!r}")
    return attributes


def _require_toxicity(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadAttribute(f"toxicity must be a number from 0 to 1, not {value!r}")
