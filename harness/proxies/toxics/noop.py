"""Nothing, as toxiproxy has it: a toxic to try an API with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.proxies.toxics.toxic import Draw, Toxic, ToxicState


@dataclass(frozen=True)
class Noop(Toxic):
    """Everything goes on as it came."""

    type = "noop"

    def begin(self, draw: Draw) -> ToxicState[Any]:
        return ToxicState(self, draw)
