"""A rule at work: its counts, its closed gates, and its memory of streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from harness.proxies.direction import Direction
from harness.proxies.rules.actions.action import Occasion
from harness.proxies.rules.counts import RuleCounts, Touch
from harness.proxies.rules.errors import Skip
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.gates import Gates
from harness.proxies.rules.occurrences import Counter
from harness.proxies.rules.rule import Rule
from harness.proxies.rules.topic_ids import TopicIds
from harness.proxies.seen import SeenConnection
from harness.proxies.step import Gate, Send, Step

Draw = Callable[[str, int, Direction, int, str, int], float]
"""From link, connection, direction, frame, id and n: a number in [0, 1)."""


class ArmedRule:
    """One rule of a rule set, from when it was armed."""

    def __init__(self, rule: Rule, ids: TopicIds, draw: Draw, now_ms: Callable[[], float]) -> None:
        self.rule, self.counts, self.gates = rule, RuleCounts(), Gates()
        self._conditions = rule.match.build(ids)
        self._draw, self._now_ms = draw, now_ms
        self.armed_at_ms = now_ms()
        self._matches, self._frames = Counter(rule.occurrences.per), Counter(rule.occurrences.per)
        self._depth = -1  # how many conditions the nearest miss fulfilled
        self._memory: dict[tuple[SeenConnection, Direction], dict[str, Any]] = {}

    def takes(self, frame: FrameView, fired: Mapping[str, int]) -> bool:
        """True if the rule takes this frame. ``fired``: the number of firings of each rule.

        Called once for every frame that is shown, whatever other rules do, so that no rule changes
        the counts of another one.
        """
        if self.rule.match.scope.direction not in (None, frame.direction):
            return False
        self.counts.seen += 1
        enough = self._enough_frames(frame)
        for place, condition in enumerate(self._conditions):
            if not condition.holds(frame):
                if place > self._depth:
                    self._depth = place
                    self.counts.nearest = f"{frame}: {condition.miss(frame)}"
                return False
        rule = self.rule
        if not enough or not rule.schedule.is_open(self._now_ms() - self.armed_at_ms, fired):
            self.counts.outside += 1
            return False
        self.counts.matched += 1
        return rule.occurrences.takes(
            self._matches.next(frame.place), partial(self._drawn, frame, 0)
        )

    def _enough_frames(self, frame: FrameView) -> bool:
        """True if enough frames have passed before this one."""
        wanted = self.rule.schedule.after_frames
        if not wanted:
            return True
        if self.rule.occurrences.per == "connection":
            return frame.ordinal >= wanted
        return self._frames.next(frame.place) > wanted

    def act(
        self, frame: FrameView, steps: Sequence[Step], expired: Callable[[], object]
    ) -> list[Step]:
        """Return the steps in place of those that are left of the frame. Raises Skip.

        ``expired`` is called when the frame was held until its time was over.
        """
        occasion = Occasion(
            frame,
            partial(self._drawn, frame),
            self._memory.setdefault((frame.place, frame.direction), {}),
            self._gate,
            self.counts.skip,
            partial(self._expired, expired),
        )
        made: list[Step] = []
        try:
            for step in steps:
                done = self.rule.action.steps(occasion, step.data) if isinstance(step, Send) else ()
                made += done if isinstance(step, Send) else [step]
        except Skip as skip:
            self.counts.skip(str(skip))
            raise
        self.counts.fired += 1
        self.counts.touched.append(Touch.of(frame, self._now_ms()))
        return made

    def _expired(self, tell: Callable[[], object]) -> None:
        self.counts.expired += 1
        tell()

    def _drawn(self, frame: FrameView, n: int) -> float:
        place = frame.place
        return self._draw(
            place.link, place.connection, frame.direction, frame.ordinal, self.rule.id, n
        )

    def _gate(self, until: str | None, at_most_ms: float) -> Gate:
        return self.gates.new(until, self._now_ms(), at_most_ms)

    def forget(self, place: SeenConnection) -> None:
        """Forget a connection that is gone."""
        self._matches.forget(place)
        self._frames.forget(place)
        for direction in Direction:
            self._memory.pop((place, direction), None)
