"""One group at both brokers: each step is done at both and compared after both have settled."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from harness.codec.error_code import ErrorCode
from harness.codec.versions import VersionRange
from labs.group_model.choices import check_choices
from labs.group_model.difference import SeenAnswer, SentRequest, Stalled, difference
from labs.group_model.group_side import GroupSide, Server
from labs.group_model.keeping_alive import KeepingAlive
from labs.group_model.knowledge import MORTAL_SESSION_MS, Knowledge
from labs.group_model.next_act import next_act, parts
from labs.group_model.promises import Promises
from labs.group_model.rebalance_clock import LIMIT_S, RebalanceClock
from labs.group_model.requests import APIS, step_of
from labs.group_model.steps import Act, AllBehave, Behave, FallSilent, Gather, OfActor, WaitOut

MAY_WAIT = ("JoinGroup", "SyncGroup")
GRACE_S = 0.03
"""The least time to wait for an answer that may wait; a later one is compared in a later step."""
DEADLINE_S = 4.0
"""The time for which brokers may differ, since one that appends to a log answers later."""
EXPIRY_S = 3 * MORTAL_SESSION_MS / 1000
_PAUSE_S = 0.003
_groups = itertools.count(1)


class GroupPlay:
    """A play; the caller must close it.

    A step raises GroupsDiffer, LeaderIsFree, ProtocolIsFree or Stalled.
    """

    def __init__(
        self, servers: tuple[Server, Server], prefix: str, deadline_s: float = DEADLINE_S
    ) -> None:
        group_id = f"{prefix}-{next(_groups)}"
        one, other = (GroupSide(server, group_id) for server in servers)
        self.sides = one, other
        self.served = shared(servers)
        self.known = Knowledge()
        self.asked: dict[int, SentRequest] = {}
        self.story: list[str] = []
        self.states: Counter[tuple[str, int]] = Counter()
        self.errors: Counter[tuple[str, str]] = Counter()
        self.expired = self.deadlines = 0
        self._deadline_s = deadline_s
        self._clock = RebalanceClock(self.known)
        self._alive = KeepingAlive(self.sides, self.known)
        self._promises = Promises()
        self._accepted: frozenset[int] = frozenset()

    def close(self) -> None:
        """Let the members leave, and close the connections."""
        for side in self.sides:
            side.close()

    # -- steps ---------------------------------------------------------------------------------

    def do(self, act: Act) -> None:
        """Do a step, or all steps of a compound step."""
        if isinstance(act, Gather):
            self.known.hasty = act.hasty
        if isinstance(act, Gather | AllBehave):
            for part in parts(act):
                self.do(part)
            return
        if self._clock.is_near or (isinstance(act, WaitOut) and self._clock.runs):
            self._wait_out()
        if isinstance(act, Behave):
            actor = self.known.actors[act.actor]
            if not actor.waits and (actor.member_id or not act.only_members):
                self._ask(next_act(actor, act.version))
        elif isinstance(act, FallSilent):
            self._fall_silent(act.actor)
        elif not isinstance(act, WaitOut):
            self._ask(act)

    def rest(self) -> None:
        """Wait for late answers; a request without one by then waits for another step."""
        until = time.monotonic() + 5 * GRACE_S
        self._settle(lambda _seen: time.monotonic() > until)

    def _ask(self, act: Act) -> None:
        step = step_of(act, self.known, self.served)
        number, place = len(self.asked), act.actor if isinstance(act, OfActor) else -1
        asked = self.asked[number] = SentRequest(number, place, step)
        self.story.append(str(asked))
        actor = self.known.actors[place] if place >= 0 else None
        if actor is not None:
            actor.waits.add(number)
        for side in self.sides:
            side.send(number, actor.client_id if actor else "we", step)
        grace_s = GRACE_S if step.api in MAY_WAIT else self._deadline_s
        until = time.monotonic() + grace_s
        self._settle(lambda seen: number in seen.answers or time.monotonic() > until)

    def _wait_out(self) -> None:
        self.story.append("     the deadline of the rebalance is awaited")
        self._clock.awaits()
        until = time.monotonic() + 2 * LIMIT_S
        self._settle(lambda seen: self._clock.is_over(seen) or time.monotonic() > until,
                     2 * LIMIT_S)  # fmt: skip
        self.deadlines += 1

    def _fall_silent(self, place: int) -> None:
        """Let one of the members with short sessions send nothing, until it is removed."""
        mortals = [
            one
            for one in self.known.actors
            if one.mortal and not one.waits and one.member_id in self.known.mortals
        ]
        if not mortals:
            return
        actor = mortals[place % len(mortals)]
        member_id = actor.member_id
        self.story.append(f"     actor {actor.place} ({member_id}) falls silent")
        self._alive.forget(member_id)
        until = time.monotonic() + EXPIRY_S
        self._settle(lambda seen: member_id not in _members(seen) or time.monotonic() > until,
                     EXPIRY_S)  # fmt: skip
        self.expired += 1

    # -- coming to rest ------------------------------------------------------------------------

    def _settle(self, is_ripe: Callable[[SeenAnswer], bool], more_s: float = 0) -> None:
        """Wait until both show the same state and that state is ripe."""
        deadline = time.monotonic() + self._deadline_s + more_s
        while True:
            self._alive.keep()
            seen = self._seen(self.sides[0]), self._seen(self.sides[1])
            if seen[0] == seen[1]:
                if is_ripe(seen[0]):
                    break
            else:
                check_choices(seen, self.asked, self.known)
                if time.monotonic() > deadline:
                    if self._alive.stalled:
                        raise Stalled
                    raise difference(self._specs, seen, self.story)
            time.sleep(_PAUSE_S)
        self._accept(seen[0])

    def _seen(self, side: GroupSide) -> SeenAnswer:
        """Return the state of the group right after the answers in it, before any later answer."""
        side.look()
        described, kept = side.described(), side.kept()
        while side.look():
            described, kept = side.described(), side.kept()
        answers = {
            number: side.meaning(number, self.asked[number].step.api)
            for number in side.answered(self._accepted)
        }
        return SeenAnswer(answers, described, kept)

    def _accept(self, seen: SeenAnswer) -> None:
        self.states[seen.described["group_state"], len(seen.described["members"])] += 1
        broken = self._promises.broken(seen, self.asked, self.known)
        for number, said in seen.answers.items():
            asked = self.asked[number]
            self.errors[asked.step.api, ErrorCode.describe(error_of(said))] += 1
            self.story.append(f"     {number} is answered: {said}")
            if asked.actor >= 0:
                self.known.actors[asked.actor].waits.discard(number)
            self.known.hears(asked, said)
        self._accepted |= seen.answers.keys()
        self._alive.only(_members(seen))
        self._clock.note(seen, self.asked)
        if broken is not None:
            raise difference(self._specs, (seen, seen), [*self.story, f"both: {broken}"])

    @property
    def _specs(self) -> tuple[str, str]:
        return self.sides[0].server.spec, self.sides[1].server.spec


def _members(seen: SeenAnswer) -> set[str]:
    return {one["member_id"] for one in seen.described["members"]}


def error_of(said: Mapping[str, Any]) -> int:
    """The error code of an answer, or the first in it."""
    if said.get("error_code"):
        return int(said["error_code"])
    inner = (one for value in said.values() if isinstance(value, list) for one in value)
    found = (error_of(one) for one in inner if isinstance(one, Mapping))
    return next((code for code in found if code), 0)


def shared(servers: tuple[Server, Server]) -> Mapping[str, VersionRange]:
    """Return the versions that both brokers serve, by API."""
    return {api: servers[0].served[api] & servers[1].served[api] for api in APIS}
