"""A byte fault: for each piece of a stream it decides when the piece goes on, and as what.

    socket -> [toxic] -> [toxic] -> socket       one chain a direction of a connection

Pure: the time is an argument, chance is drawn from a source that is given. The law: the removal of
a toxic loses nothing. What it held goes on at once, in order, unless the toxic's own meaning is
that it is lost (a limit, a close).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Generic, Self, TypeVar

from harness.base.suggestion import did_you_mean
from harness.proxies.toxics.attributes import BadAttribute, checked

NEVER_MS = float("inf")
"""Due only when the toxic is removed."""

Draw = Callable[[], float]
"""The next number in [0, 1) for this toxic in this stream."""


class StreamMarker(Enum):
    """The items of a stream beside bytes."""

    END = "end"  # the sender has ended (FIN)
    CLOSE = "close"  # close both sockets
    RESET = "reset"  # close both by RST


LAST_MARKS = (StreamMarker.CLOSE, StreamMarker.RESET)
"""Nothing comes after one of these."""

Piece = bytes | StreamMarker


@dataclass(frozen=True, slots=True)
class Due:
    """A piece, and when it goes on; never before what stands in front of it.

    ``own``: a mark of the toxic's making, which is gone with the toxic when it is removed before.
    """

    piece: Piece
    at_ms: float
    own: bool = False


@dataclass(frozen=True)
class Toxic:
    """The settings of one fault; ``begin`` makes what it keeps for one stream.

    The fields of a subclass are its attributes, with the names that JSON has. Raises BadAttribute.
    """

    type: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = checked(self.type, field, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    def begin(self, draw: Draw) -> ToxicState[Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, attributes: Mapping[str, Any]) -> Self:
        """Raises BadAttribute for an unknown name or a value that cannot be."""
        return cls(**cls._known(attributes))

    def updated(self, attributes: Mapping[str, Any]) -> Self:
        """The same with other values for these attributes; raises BadAttribute."""
        return type(self)(**(self.to_json() | self._known(attributes)))

    @classmethod
    def _known(cls, attributes: Mapping[str, Any]) -> dict[str, Any]:
        names = [field.name for field in fields(cls)]
        for name in attributes:
            if name not in names:
                raise BadAttribute(
                    f'{cls.type} has no attribute "{name}"{did_you_mean(name, names)}; '
                    f"it has {', '.join(names) or 'none'}"
                )
        return dict(attributes)

    def to_json(self) -> dict[str, Any]:
        """The attributes as JSON has them, but no default that is not a number.

        toxiproxy-cli, up to 2.7, fails on other attributes: it sees them only where they are used.
        """
        return {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), int | float) or value != field.default
        }


S = TypeVar("S", bound=Toxic)


class ToxicState(Generic[S]):
    """One toxic in one stream; this base changes nothing.

    A subclass overrides ``data`` and ``mark``, or ``feed`` where it treats them alike. A piece is
    fed when all that was made of those before it has gone on, so a generator splits a long piece
    without keeping all its parts. Only what is due at once may be other bytes, or fewer, than came:
    bytes that are held are given back as they came when the toxic is removed.
    """

    def __init__(self, toxic: S, draw: Draw) -> None:
        self.toxic, self.draw = toxic, draw

    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        """Return what comes without any byte; all else waits behind it.

        The stream begins now, or began at ``began_ms`` and the toxic is added or changed now.
        """
        return ()

    def updated(self, toxic: S) -> None:
        """Change the settings; what was held is fed once more, with its time of arrival."""
        self.toxic = toxic

    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:
        """Return the due pieces for a piece that arrived at ``arrived_ms``."""
        if isinstance(piece, StreamMarker):
            return self.mark(piece, arrived_ms)
        return self.data(piece, arrived_ms)

    def data(self, data: bytes, arrived_ms: float) -> Iterable[Due]:
        return (Due(data, arrived_ms),)

    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterable[Due]:
        return (Due(mark, arrived_ms),)
