"""Heartbeats for all members with short sessions, except for the one that falls silent."""

from __future__ import annotations

import time

from harness.differential.conversation import ConversationStep
from harness.differential.symbols import NAME
from labs.group_model.group_side import GroupSide
from labs.group_model.knowledge import MORTAL_SESSION_MS, Knowledge

EVERY_S = MORTAL_SESSION_MS / 1000 / 8
STALL_S = MORTAL_SESSION_MS / 1000 / 2


class KeepingAlive:
    """Sends heartbeats for members with short sessions, in the present generation.

    ``stalled``: True if the machine was so slow that a session may have expired; then observations
    prove nothing.
    """

    def __init__(self, sides: tuple[GroupSide, GroupSide], known: Knowledge) -> None:
        self._sides, self._known = sides, known
        self._last = 0.0
        self._heard: set[str] = set()
        self.stalled = False

    def keep(self) -> None:
        """Send heartbeats that are due; must be called often."""
        mortals = self._known.mortals
        now = time.monotonic()
        if mortals and (now - self._last > EVERY_S or mortals - self._heard):
            if mortals & self._heard and now - self._last > STALL_S:
                self.stalled = True
            self._last = now
            for member_id in mortals:
                self._beat(member_id)
            self._heard = set(mortals)

    def forget(self, member_id: str) -> None:
        """Stop the heartbeats of this member."""
        self.keep()
        self._known.mortals.discard(member_id)

    def only(self, members: set[str]) -> None:
        """Send no more heartbeats for clients that are not in ``members``."""
        self._known.mortals &= members

    def _beat(self, member_id: str) -> None:
        fields = {"group_id": NAME, "generation_id": self._known.generation, "member_id": member_id}
        for side in self._sides:
            side.ask(ConversationStep("Heartbeat", 0, fields))
