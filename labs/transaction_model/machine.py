"""The state machine: each rule is one request or event, for the coordinator and for the model."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    get_state_machine_test,
    initialize,
    precondition,
    rule,
)

from harness.codec.error_code import ErrorCode
from labs.transaction_model.coordinator_side import PLACES, STATES, CoordinatorSide
from labs.transaction_model.promised import LAST_EPOCH, HeldIdentity, PromisedId

STEPS_AN_EXAMPLE = 40
_PRODUCER = st.sampled_from([0, 0, 1])
_TIMEOUT_MS = st.sampled_from([100, 1_000])


class TransactionsDiffer(AssertionError):
    """The coordinator answers, or stands, otherwise than the model."""


class TransactionMachine(RuleBasedStateMachine):
    """Two producers of one transactional id; each sends what it was given last, or first."""

    ran: Counter[str]
    stories: list[str]

    @initialize(newer=st.booleans(), is_old=st.booleans(), timeout_ms=_TIMEOUT_MS)
    def begin(self, *, newer: bool, is_old: bool, timeout_ms: int) -> None:
        """``is_old``: the producer id has few epochs left."""
        self._side, self._model = CoordinatorSide(newer=newer), PromisedId(newer)
        self._now_ms, self._lines = 0, [f"transaction version {2 if newer else 0}"]
        given = self._side.init(timeout_ms, None, 0)
        assert given == self._model.init(timeout_ms, None, 0)
        assert isinstance(given, HeldIdentity)
        if is_old:
            given = HeldIdentity(given.id, LAST_EPOCH - 2)
            self._side.start_at_epoch(given.epoch)
            self._model.held = given
        self._held = [[given], [given]]

    # -- rules -------------------------------------------------------------------------------------

    @rule(producer=_PRODUCER, goes_on=st.booleans(), first=st.booleans(), timeout_ms=_TIMEOUT_MS)
    def init(self, producer: int, *, goes_on: bool, first: bool, timeout_ms: int) -> None:
        """A producer starts, or goes on with the identity that it has (KIP-360)."""
        expected = self._of(producer, first=first) if goes_on else None
        self._take(
            f"init by {producer}, expected {expected}",
            self._side.init(timeout_ms, expected, self._now_ms),
            self._model.init(timeout_ms, expected, self._now_ms),
            producer,
        )

    @rule(producer=_PRODUCER, place=st.integers(0, PLACES - 1), first=st.booleans())
    def add(self, producer: int, place: int, *, first: bool) -> None:
        given = self._of(producer, first=first)
        self._compare(
            f"add {place} by {producer} with {given}",
            self._side.add(given, place, self._now_ms),
            self._model.add(given, place, self._now_ms),
        )

    @rule(producer=_PRODUCER, commits=st.booleans(), first=st.booleans())
    def end(self, producer: int, *, commits: bool, first: bool) -> None:
        given = self._of(producer, first=first)
        self._take(
            f"{'commit' if commits else 'abort'} by {producer} with {given}",
            self._side.end(given, self._now_ms, commits=commits),
            self._model.end(given, commits=commits),
            producer,
        )

    @rule(producer=_PRODUCER, place=st.integers(0, PLACES - 1), commits=st.booleans(),
          times=st.integers(1, 3))  # fmt: skip
    def whole_transaction(self, producer: int, place: int, *, commits: bool, times: int) -> None:
        """The end is requested several times with the same identity: answers were lost."""
        self.add(producer, place, first=False)
        given = self._held[producer][-1]
        for _ in range(times):
            self._take(
                f"{'commit' if commits else 'abort'} of all by {producer} with {given}",
                self._side.end(given, self._now_ms, commits=commits),
                self._model.end(given, commits=commits),
                producer,
            )
            self.write_markers()

    @rule()
    def write_markers(self) -> None:
        self._side.write_markers(self._now_ms)
        self._model.write_markers()
        self._compare("markers", ErrorCode.NONE, ErrorCode.NONE)

    @rule(by_ms=st.sampled_from([1, 99, 100, 101, 1_001]))
    def time_passes(self, by_ms: int) -> None:
        """The coordinator looks at the clock, which has jumped."""
        self._now_ms += by_ms
        self._side.time_is_up(self._now_ms)
        self._model.time_is_up(self._now_ms)
        self._compare(f"later by {by_ms} ms", ErrorCode.NONE, ErrorCode.NONE)

    @precondition(lambda self: self._model.held is not None)
    @rule()
    def reload(self) -> None:
        """Another coordinator, or the same one behind a restart."""
        self._side.reload()
        self._model.reload()
        self._compare("reload", ErrorCode.NONE, ErrorCode.NONE)

    # -- comparison --------------------------------------------------------------------------------

    def _of(self, producer: int, *, first: bool) -> HeldIdentity:
        held = self._held[producer]
        return held[max(len(held) - 2, 0)] if first else held[-1]

    def _take(self, step: str, seen: Any, promised: Any, producer: int) -> None:
        self._compare(step, seen, promised)
        if isinstance(seen, HeldIdentity):
            self._held[producer].append(seen)

    def _compare(self, step: str, seen: Any, promised: Any) -> None:
        told = seen.name if isinstance(seen, ErrorCode) else str(seen)
        outcome = told if isinstance(seen, ErrorCode) else "done"
        self.ran[f"{step.partition(' ')[0]}: {outcome}"] += 1
        known = self._side.known
        assert known is not None
        stands = (STATES[known.state], self._side.held, self._side.places)
        marks = {place: self._side.marks(place) for place in range(PLACES)}
        model = self._model
        should = (model.state, model.held, model.places)
        should_marks = {place: model.marks.get(place, []) for place in range(PLACES)}
        self._lines.append(f"{step}: {told}; {known.state.value}, {self._side.held}")
        if (seen, stands, marks) != (promised, should, should_marks):
            promised_text = promised.name if isinstance(promised, ErrorCode) else str(promised)
            self._lines.append(f"promised: {promised_text}; {should}, markers {should_marks}")
            self._lines.append(f"seen: {told}; {stands}, markers {marks}")
            self.stories.append("\n".join(self._lines))
            raise TransactionsDiffer(self.stories[-1])


def find(examples: int, number: int, *, shrinks: bool = True) -> tuple[Counter[str], str | None]:
    """Return the steps by outcome, and the shortest story of a difference, if there is one."""

    class Machine(TransactionMachine):
        """Of this run."""

    Machine.ran, Machine.stories = Counter(), []
    test = get_state_machine_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS_AN_EXAMPLE,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    try:
        seed(number)(test)()
    except TransactionsDiffer:
        return Machine.ran, min(Machine.stories, key=len)
    return Machine.ran, None
