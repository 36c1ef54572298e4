"""The deadline of a rebalance, in groups with short rebalance timeouts.

Two phases have it. In the join phase the coordinator removes members that have not joined by the
deadline (static members stay). In the sync phase it removes members that have not synced, and all
join again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from labs.group_model.difference import SeenAnswer, SentRequest
from labs.group_model.knowledge import HASTY_REBALANCE_MS, Knowledge
from labs.group_model.names import UNNAMED

LIMIT_S = HASTY_REBALANCE_MS / 1000
_STEPS_SHARE = 0.5
"""Share of the deadline for steps; then the test waits, so that no step runs into the end."""
_PREPARING = "PreparingRebalance"


class RebalanceClock:
    """``note`` is called whenever both brokers have settled."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._phase: tuple[bool, int] | None = None
        self._since = 0.0
        self._awaited = False
        self.runs = False

    def note(self, seen: SeenAnswer, asked: Mapping[int, SentRequest]) -> None:
        """Update the phase, and the time of its beginning, from the present state of the group."""
        phase = self._phase_of(seen)
        if phase != self._phase:
            self._phase, self._since, self._awaited = phase, time.monotonic(), False
        is_waited_for = phase[0] or bool(self._unsynced(seen, asked))
        self.runs = self._known.hasty and is_waited_for and not self._awaited

    @property
    def is_near(self) -> bool:
        """True if the test must wait for the deadline before the next step."""
        return self.runs and time.monotonic() - self._since > LIMIT_S * _STEPS_SHARE

    def is_over(self, seen: SeenAnswer) -> bool:
        """True if the deadline has ended the phase."""
        return self._phase_of(seen) != self._phase

    def awaits(self) -> None:
        """Note that the test waits for the deadline, which it does once per phase.

        With static members alone no member is removed, and the phase begins again.
        """
        self._awaited = True

    def _phase_of(self, seen: SeenAnswer) -> tuple[bool, int]:
        return seen.described["group_state"] == _PREPARING, self._known.generation

    def _unsynced(self, seen: SeenAnswer, asked: Mapping[int, SentRequest]) -> set[str]:
        members = {one["member_id"] for one in seen.described["members"]}
        waiting = {number for actor in self._known.actors for number in actor.waits}
        syncing = {
            asked[number].step.fields["member_id"]
            for number in waiting
            if asked[number].step.api == "SyncGroup"
        }
        return members - self._known.synced - syncing - {UNNAMED}
