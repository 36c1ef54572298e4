"""The wire coverage of one process, reported to the controller from time to time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from harness.client.wire_coverage import WireCount, WireCoverage

_TELL_EVERY_S = 5.0


@dataclass(slots=True)
class WireTelling:
    """The wire coverage of this process's tests, reported every few seconds at most."""

    coverage: WireCoverage = field(default_factory=WireCoverage)
    told_at: float = field(default_factory=time.monotonic)

    def due(self, *, last: bool) -> list[WireCount]:
        """Return the counts to report after this test: all at the last one, else seldom any."""
        now = time.monotonic()
        if not last and now - self.told_at < _TELL_EVERY_S:
            return []
        self.told_at = now
        return self.coverage.take()
