"""The frames that a rule can meet; its fields and values are checked against them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.codec.apis import APIS, Api
from harness.codec.structs import Message
from harness.codec.versions import VersionRange
from harness.proxies.direction import Direction


@dataclass(frozen=True, slots=True)
class Scope:
    """``api_keys``: None for all. ``direction``: None for both. ``versions``: None for all."""

    direction: Direction | None = None
    api_keys: frozenset[int] | None = None
    versions: VersionRange | None = None

    @property
    def apis(self) -> list[Api]:
        """The known APIs, by key."""
        return [APIS[key] for key in sorted(APIS if self.api_keys is None else self.api_keys)
                if key in APIS]  # fmt: skip

    def classes(self) -> Iterator[type[Message]]:
        """The classes of the frames' bodies."""
        for api in self.apis:
            if self.direction is not Direction.DOWNSTREAM:
                yield api.request
            if self.direction is not Direction.UPSTREAM:
                yield api.response

    def requests(self) -> Iterator[type[Message]]:
        """The classes of the requests' bodies, also where the frames are responses."""
        return (api.request for api in self.apis)

    def versions_of(self, cls: type[Message]) -> list[int]:
        """The versions of the class that the rule can meet."""
        valid = cls.message_spec.valid
        return list(valid if self.versions is None else valid & self.versions)
