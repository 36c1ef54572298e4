"""Assignment of tests to xdist workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

TOGETHER = 8
"""So many tests of a file go to a worker at once, where they have no private broker: few enough
that no worker is long behind the others, and enough to share what a file's tests share."""

Groups = Mapping[str, str]
"""Node id -> group of the tests that have one; see :func:`harness.runner.run_order.group_of`."""


class InGroups(LoadScopeScheduling):  # type: ignore[misc]
    """A whole group goes to one worker; groups are assigned in the order of their first tests."""

    def __init__(self, config: Any, log: Any, groups: Callable[[], Groups]) -> None:
        """``groups`` is called when all workers have collected."""
        super().__init__(config, log)
        config.option.loadscopereorder = False  # it would begin with the largest groups
        self._groups = groups
        self._units: Mapping[str, str] = {}

    def schedule(self) -> None:
        if self.collection is None:
            collected = next(iter(self.registered_collections.values()))
            self._units = units_of(collected, self._groups())
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]


def units_of(nodeids: Sequence[str], groups: Groups) -> dict[str, str]:
    """Node id -> name of the unit in which the test is assigned."""
    units, seen = {}, Counter[str]()
    for nodeid in nodeids:
        group = groups.get(nodeid)
        if group is None:
            file = nodeid.split("::")[0]
            group = f"{file} {seen[file] // TOGETHER}"
            seen[file] += 1
        units[nodeid] = group
    return units
