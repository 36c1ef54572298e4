"""Which xdist worker runs which test on a cluster."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from harness.marks import PRIVATE


class OneForPrivateClusters(LoadScopeScheduling):  # type: ignore[misc]
    """Tests with private clusters go to one worker, all others to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return PRIVATE[0] if nodeid.startswith(PRIVATE) else nodeid
