"""Targets of the fuzzer, one per module.

Each has ``check(data)``, which raises unless the code behaves on these bytes, ``seeds()``, which
yields (name, bytes) to begin with, ``mutated(data, chance)``, a change that random bytes would
hardly make, and ``repaired(data, chance)``, which corrects checksums so that a mutation gets past
them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from typing import Protocol

# The share of a run's time: by how much there is to find.
SHARES = {
    "messages": 5,
    "records": 4,
    "decompress": 2,
    "data": 2,
    "transcode": 2,
    "capture": 2,
    "proxies": 3,
}


class FuzzTarget(Protocol):
    """A module of this package."""

    def check(self, data: bytes) -> None: ...

    def seeds(self) -> Iterator[tuple[str, bytes]]: ...

    def mutated(self, data: bytes, chance: random.Random) -> bytes: ...

    def repaired(self, data: bytes, chance: random.Random) -> bytes: ...


def load_target(name: str) -> FuzzTarget:
    """Return the module; its import loads the code under test, so that it can be instrumented."""
    module: FuzzTarget = import_module(f"labs.fuzz.targets.{name}")
    return module
