"""What is fuzzed, a module a target.

Each has ``check(data)``, which raises unless the code behaves on these bytes, ``seeds()``, which
yields (name, bytes) to begin with, ``mutated(data, chance)``, a change that random bytes would
hardly make, and ``repaired(data, chance)``, which makes checksums right so that a mutation gets
behind them.
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


class Target(Protocol):
    """A module of this package."""

    def check(self, data: bytes) -> None: ...

    def seeds(self) -> Iterator[tuple[str, bytes]]: ...

    def mutated(self, data: bytes, chance: random.Random) -> bytes: ...

    def repaired(self, data: bytes, chance: random.Random) -> bytes: ...


def load_target(name: str) -> Target:
    """The module; only now is the code that it checks imported, so it can be instrumented."""
    module: Target = import_module(f"tests.fuzz.targets.{name}")
    return module
