"""The handling of frames by API and version, kept until the interceptor's wishes change."""

from __future__ import annotations

from typing import NamedTuple

from harness.codec.apis import APIS
from harness.proxies.counters import Kind, Tallies, Tally
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.rewriter import Rewriter

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


class Course(NamedTuple):
    """The handling of frames of one kind in one direction."""

    tally: Tally
    is_collected: bool  # for one of these reasons
    is_shown: bool  # to the interceptor
    is_answer_shown: bool  # the answer will be; of requests
    is_touched: bool  # by the rewriter


class FrameRouting:
    """The courses of one direction of a connection."""

    def __init__(
        self, direction: Direction, tallies: Tallies, interceptor: Interceptor, rewriter: Rewriter
    ) -> None:
        self._direction, self._tallies = direction, tallies
        self._interceptor, self._rewriter = interceptor, rewriter
        self._known: dict[Kind, Course] = {}
        self._wishes = interceptor.wishes

    def of(self, kind: Kind) -> Course:
        """Return the course of a kind; called for every frame."""
        if self._interceptor.wishes is not self._wishes:
            self._wishes = self._interceptor.wishes
            self._known.clear()
        return self._known.get(kind) or self._asked(kind)

    def _asked(self, kind: Kind) -> Course:
        interceptor, shown, answer_shown = self._interceptor, False, False
        if not interceptor.is_idle:
            shown = interceptor.wants(self._direction, *kind)
            answer_shown = self._direction is UP and interceptor.wants(DOWN, *kind)
        touched = self._rewriter.touches(self._direction, *kind)
        collected = shown or answer_shown or touched
        course = Course(self._tallies[kind], collected, shown, answer_shown, touched)
        api = APIS.get(kind[0])
        if api and kind[1] in api.valid_versions:  # each of the others is to be counted, not kept
            self._known[kind] = course
        return course
