"""The toxics of one proxy, by name; every change is passed to the running streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.base.suggestion import did_you_mean
from harness.proxies.direction import Direction
from harness.proxies.toxics.chain import Chain, Chance, ToxicChange
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.toxic import Toxic

Told = Callable[[ToxicChange, NamedToxic], None]


class ToxicExists(ValueError):
    """The name is in use: names are unique in a proxy, whatever the direction."""


class NoSuchToxic(LookupError):
    """No toxic of this name."""


class ToxicCollection:
    """Empty at first. Names are unique; within a direction the order of adding is that of effect.

    For the thread of its proxy's loop only, like everything of a proxy.
    """

    def __init__(self) -> None:
        self._toxics: dict[str, NamedToxic] = {}
        self._told: dict[object, Told] = {}

    def __len__(self) -> int:
        return len(self._toxics)

    def __iter__(self) -> Iterator[NamedToxic]:
        """Upstream first, as toxiproxy lists them."""
        for direction in Direction:
            yield from self.towards(direction)

    def __contains__(self, name: object) -> bool:
        return name in self._toxics

    def towards(self, direction: Direction) -> list[NamedToxic]:
        """Those of one direction, in the order of their effect."""
        return [named for named in self._toxics.values() if named.direction is direction]

    def get(self, name: str) -> NamedToxic:
        """Raises NoSuchToxic."""
        try:
            return self._toxics[name]
        except KeyError:
            raise NoSuchToxic(f'"{name}"{did_you_mean(name, self._toxics)}') from None

    def add(
        self,
        toxic: Toxic,
        direction: Direction = Direction.DOWNSTREAM,
        *,
        toxicity: float = 1.0,
        name: str | None = None,
    ) -> NamedToxic:
        """Named ``<type>_<direction>`` without a name; raises ToxicExists or BadAttribute."""
        named = NamedToxic.of(toxic, direction, toxicity, name)
        self.add_all([named])
        return named

    def add_json(self, fields: Mapping[str, Any]) -> NamedToxic:
        """Raises ToxicExists, and what NamedToxic.from_json raises."""
        named = NamedToxic.from_json(fields)
        self.add_all([named])
        return named

    def add_all(self, toxics: Iterable[NamedToxic]) -> None:
        """Add all or none, at one moment; raises ToxicExists."""
        toxics = list(toxics)
        names = set(self._toxics)
        for named in toxics:
            if named.name in names:
                raise ToxicExists(f'"{named.name}"')
            names.add(named.name)
        for named in toxics:
            self._toxics[named.name] = named
        for named in toxics:
            self._tell(ToxicChange.ADDED, named)

    def update(self, name: str, toxicity: float | None = None, **attributes: Any) -> NamedToxic:
        """Change attributes or toxicity, the rest stays; raises NoSuchToxic, BadAttribute."""
        return self.update_json(name, {"toxicity": toxicity, "attributes": attributes})

    def update_json(self, name: str, fields: Mapping[str, Any]) -> NamedToxic:
        """The same, as toxiproxy's API has it."""
        named = self.get(name).updated(fields)
        self._toxics[name] = named
        self._tell(ToxicChange.UPDATED, named)
        return named

    def remove(self, name: str) -> NamedToxic:
        """Remove a toxic; what it held goes on. Raises NoSuchToxic."""
        named = self.get(name)
        del self._toxics[name]
        self._tell(ToxicChange.REMOVED, named)
        return named

    def clear(self) -> None:
        """Remove all."""
        for named in list(self):
            self.remove(named.name)

    def chain(
        self,
        direction: Direction,
        chance: Chance,
        began_ms: float,
        *,
        now_ms: float | None = None,
        struck: Callable[[NamedToxic], None] | None = None,
    ) -> Chain:
        """Return a chain for a stream; its ``apply`` needs the changes of this direction.

        These come from ``subscribe``. ``now_ms``: when the stream has run for a while without a
        chain.
        """
        toxics = self.towards(direction)
        return Chain(chance, began_ms, toxics, now_ms=now_ms, struck=struck)

    def subscribe(self, told: Told) -> Callable[[], None]:
        """Call the function at every change; return a function that ends this."""
        key = object()
        self._told[key] = told

        def end() -> None:
            self._told.pop(key, None)

        return end

    def to_json(self) -> list[dict[str, Any]]:
        """As toxiproxy's API has it."""
        return [named.to_json() for named in self]

    def _tell(self, change: ToxicChange, named: NamedToxic) -> None:
        for told in list(self._told.values()):  # a call may end streams
            told(change, named)
