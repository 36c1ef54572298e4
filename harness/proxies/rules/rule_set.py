"""Rules at work on the frames of any number of proxies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from harness.codec.frame import frame
from harness.proxies.direction import Direction
from harness.proxies.event import Event, Listener
from harness.proxies.hashed_chance import draw
from harness.proxies.interceptor import Interceptor
from harness.proxies.rules.armed import ArmedRule
from harness.proxies.rules.counts import RuleCounts
from harness.proxies.rules.errors import (
    TLS_PASSES,
    RuleDidNotFire,
    RuleError,
    RulesSeeNothing,
    Skip,
    unknown,
)
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.rule import Rule
from harness.proxies.rules.topic_ids import TELLING, TopicIds
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Send, Step

MOST_DISARMED = 1000  # of these the counts are kept


def _nobody(_event: Event) -> None:
    pass


class RuleSet(Interceptor):
    """Ordered rules. The first that fires decides about a frame, unless it goes on.

    Every rule is asked about every frame, so the counts and draws of one do not depend on others.
    ``now_ms``: the clock; ``tell`` is called with each event. Not thread-safe: used on one loop.
    """

    def __init__(
        self,
        *rules: Rule,
        seed: int = 0,
        now_ms: Callable[[], float],
        tell: Listener = _nobody,
        topic_ids: TopicIds | None = None,
    ) -> None:
        self.seed, self.now_ms, self.tell = seed, now_ms, tell
        self.topic_ids = topic_ids or TopicIds()
        self._armed: dict[str, ArmedRule] = {}
        self._disarmed: dict[str, ArmedRule] = {}
        self._fired: dict[str, int] = {}
        self._encrypted = 0  # connections that no rule sees
        self._wanted: dict[Direction, frozenset[int] | None] = dict.fromkeys(Direction, frozenset())
        if rules:
            self.arm(*rules)

    # -- which rules there are ---------------------------------------------------------------------

    def arm(self, *rules: Rule, replace: bool = False) -> None:
        """Arm all at one moment, behind those that are armed or (``replace``) in their place.

        Raises RuleError, and nothing is armed, when two have the same id or one names a rule that
        is not there.
        """
        staying = {} if replace else self._armed
        ids = [*staying, *(rule.id for rule in rules)]
        for rule in rules:
            if ids.count(rule.id) > 1:
                raise RuleError(f'there are two rules "{rule.id}"; give one another id', "id")
            for place, named in rule.rules_named.items():
                if named not in ids:
                    raise unknown("rule", named, ids, *place)
        if replace:
            self.disarm()
        chance = partial(draw, self.seed)
        for rule in rules:
            self._disarmed.pop(rule.id, None)
            self._armed[rule.id] = ArmedRule(rule, self.topic_ids, chance, self.now_ms)
            self._fired[rule.id] = 0
        self._settle()
        for rule in rules:
            self._tell("armed", rule.id)

    def disarm(self, *ids: str) -> None:
        """Disarm these rules, all without any. Held frames go on; the counts can still be read.

        Raises RuleError, and nothing is disarmed, for a rule that is not armed.
        """
        gone = [self._one(rule_id).rule.id for rule_id in ids] if ids else list(self._armed)
        for rule_id in gone:
            armed = self._armed.pop(rule_id)
            self._disarmed.pop(rule_id, None)
            self._disarmed[rule_id] = armed
            while len(self._disarmed) > MOST_DISARMED:
                del self._disarmed[next(iter(self._disarmed))]
            armed.gates.open(self.now_ms())
        self._settle()
        for rule_id in gone:
            self._tell("disarmed", rule_id)

    def release(self, id: str) -> int:  # noqa: A002
        """Let the frames that the rule holds go on, and return their number. It stays armed.

        Raises RuleError for a rule that is not armed.
        """
        count = self._one(id).gates.open(self.now_ms())
        self._tell("released", id, frames=count)
        return count

    @property
    def rules(self) -> list[Rule]:
        """The armed rules, in order."""
        return [armed.rule for armed in self._armed.values()]

    def _one(self, id: str) -> ArmedRule:  # noqa: A002
        if id not in self._armed:
            raise unknown("armed rule", id, self._armed)
        return self._armed[id]

    def _settle(self) -> None:
        down = _wanted(self.rules, Direction.DOWNSTREAM)
        up = _wanted(self.rules, Direction.UPSTREAM)
        # A rule on responses also needs their requests.
        both = None if up is None or down is None else up | down
        self.wishes = self._wanted = {Direction.UPSTREAM: both, Direction.DOWNSTREAM: down}

    # -- what they did -----------------------------------------------------------------------------

    def counts(self, id: str) -> RuleCounts:  # noqa: A002
        """Return the counts of a rule that is or was armed. Raises RuleError."""
        found = self._armed.get(id) or self._disarmed.get(id)
        if found is None:
            raise unknown("rule", id, [*self._armed, *self._disarmed])
        return found.counts

    def expect_fired(self, *ids: str, at_least: int = 1) -> None:
        """Require that each of these rules (all that are armed, without any) has fired so often.

        Raises RuleDidNotFire, which contains for each rule that has not what it saw instead.
        """
        short = []
        for rule_id in ids or list(self._armed):
            counts = self.counts(rule_id)
            if counts.fired < at_least:
                wanted = "has not fired" if at_least == 1 else f"has not fired {at_least} times"
                short.append(f'rule "{rule_id}" {wanted}: {counts.in_words()}')
        if short:
            if self._encrypted:
                short.append(f"{TLS_PASSES}; connections: {self._encrypted}")
            raise RuleDidNotFire("\n".join(short))
        if not ids and not self._armed:
            raise RuleDidNotFire("no rule is armed")

    def to_json(self) -> list[dict[str, Any]]:
        """Every armed rule with its words and counts."""
        return [
            {"id": rule_id, "rule": dict(armed.rule.words), **armed.counts.to_json()}
            for rule_id, armed in self._armed.items()
        ]

    def _tell(self, what: str, id: str, seen: FrameView | None = None, **detail: Any) -> None:  # noqa: A002
        if seen is None:
            self.tell(Event(self.now_ms(), what, rule=id, detail=detail))
            return
        place = seen.place
        self.tell(Event(self.now_ms(), what, place.link, place.connection, seen.direction,
                        seen.ordinal, id, detail))  # fmt: skip

    # -- what becomes of frames --------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        return not self._armed

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        wanted = self._wanted[direction]
        return wanted is None or api_key in wanted

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        return self._decide(FrameView(seen))

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:
        return self._decide(FrameView(seen))

    def encrypted(self, place: SeenConnection) -> None:  # noqa: ARG002
        self._encrypted += 1
        if not self.is_idle:
            raise RulesSeeNothing

    def closed(self, place: SeenConnection) -> None:
        for armed in self._armed.values():
            armed.forget(place)

    def _decide(self, seen: FrameView) -> Sequence[Step] | None:
        if seen.api_key in TELLING[seen.direction] and self._names_topics:
            self.topic_ids.learn_from(seen.mentions[0])
        steps: list[Step] | None = None
        decided = ""
        for armed in list(self._armed.values()):
            if not armed.takes(seen, self._fired):
                continue
            action, rule_id = armed.rule.action, armed.rule.id
            if decided and not action.only_looks:
                reason = f'rule "{decided}" had decided'
                armed.counts.skip(reason)
                self._tell("skipped", rule_id, seen, reason=reason)
                continue
            try:
                left = steps if steps is not None else [Send(frame(seen.payload))]
                made = armed.act(seen, left, partial(self._tell, "expired", rule_id, seen))
            except Skip as skip:
                self._tell("skipped", rule_id, seen, reason=str(skip))
                continue
            if not action.only_looks:
                steps = made
                decided = "" if armed.rule.go_on else rule_id
            self._has_fired(rule_id, action.name, seen)
        return steps

    @property
    def _names_topics(self) -> bool:
        return any(armed.rule.match.needs_topic_names for armed in self._armed.values())

    def _has_fired(self, id: str, action: str, seen: FrameView) -> None:  # noqa: A002
        """Report the firing, and let the frames go on that waited for it."""
        self._fired[id] += 1
        self._tell("fired", id, seen, action=action, api=seen.api_name, version=seen.version,
                   correlation_id=seen.correlation_id)  # fmt: skip
        for armed in self._armed.values():
            count = armed.gates.open(self.now_ms(), id)
            if count:
                self._tell("released", armed.rule.id, frames=count, by=id)


def _wanted(rules: Iterable[Rule], direction: Direction) -> frozenset[int] | None:
    """The keys of the APIs that the rules look at in this direction; None: all."""
    wanted: set[int] = set()
    for rule in rules:
        if rule.match.needs_topic_names:
            wanted |= TELLING[direction]
        scope = rule.match.scope
        if scope.direction not in (None, direction):
            continue
        counts_all = rule.schedule.after_frames and rule.occurrences.per != "connection"
        if scope.api_keys is None or counts_all:
            return None
        wanted |= scope.api_keys
    return frozenset(wanted)
