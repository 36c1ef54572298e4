"""The state machine: every rule of the table, with numbers that Hypothesis draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    get_state_machine_test,
    initialize,
    rule,
)

from labs.replication_model.invariants import BrokenInvariant
from labs.replication_model.playing import ModelStep, ReplicationPlaying, story_of
from labs.replication_model.rules import RULES
from labs.replication_model.world import WorldPlan

_NUMBER = st.integers(0, 59)
_TIMES = [name for name, (_, weight) in RULES.items() for _ in range(weight)]
STEPS_AN_EXAMPLE = 100


@st.composite
def plans(draw: st.DrawFn) -> WorldPlan:
    """More brokers than replicas, some of the time."""
    brokers = draw(st.integers(3, 5))
    replicas = draw(st.integers(2, min(brokers, 4)))
    return WorldPlan(
        brokers,
        replicas,
        draw(st.integers(1, replicas)),
        keeps_eligible=draw(st.booleans()),
        unclean=draw(st.sampled_from([False, False, True])),
        asks_unclean=draw(st.sampled_from([False, False, True])),
        loses_tails=draw(st.sampled_from([False, False, True])),
    )


class ReplicationMachine(RuleBasedStateMachine):
    """One example; `ran` counts for all of them."""

    ran: Counter[str]
    examples: list[str]

    @initialize(plan=plans())
    def begin(self, plan: WorldPlan) -> None:
        self._plan, self._steps = plan, list[ModelStep]()
        self._playing = ReplicationPlaying(plan, self.ran)

    @rule(name=st.sampled_from(_TIMES), one=_NUMBER, other=_NUMBER)
    def step(self, **drawn: Any) -> None:
        done = ModelStep(drawn["name"], drawn["one"], drawn["other"])
        self._steps.append(done)
        self._told(lambda: self._playing.do(done))

    def _told(self, act: Callable[[], object]) -> None:
        try:
            act()
        except BrokenInvariant:
            self.examples.append(story_of(self._plan, self._steps))
            raise

    def teardown(self) -> None:
        if hasattr(self, "_playing"):
            self._told(self._playing.end)


def find(steps: int, number: int, shrinks: bool = True) -> tuple[Counter[str], str | None]:
    """Examples until so many steps were done, or an invariant broke: then the shortest story."""

    class Machine(ReplicationMachine):
        """Of this run."""

    Machine.ran, Machine.examples = Counter(), []
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)
    test = get_state_machine_test(
        Machine,
        settings=settings(
            max_examples=max(steps // STEPS_AN_EXAMPLE, 1),
            stateful_step_count=STEPS_AN_EXAMPLE,
            deadline=None,
            database=None,
            phases=phases,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    try:
        seed(number)(test)()
    except BrokenInvariant:
        return Machine.ran, min(Machine.examples, key=len)
    return Machine.ran, None
