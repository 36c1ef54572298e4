"""The state machine: every rule is one step, with values that Hypothesis draws."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from labs.group_model import steps
from labs.group_model.playing import Arena, GroupPlaying
from labs.group_model.steps import AS_IT_IS, Act, By, Named, Offer, Parts, Who

_ACTOR = st.sampled_from([0, 0, 0, 1, 1, 2, 3])
_VERSION = st.integers(0, 11)
_WHO = st.sampled_from([Who.OWN, Who.OWN, Who.OWN, Who.OWN, Who.NONE, Who.OTHER, Who.UNKNOWN])
_OFF = st.sampled_from([0, 0, 0, 0, -1, 1])
_INSTANCE = st.sampled_from([AS_IT_IS, AS_IT_IS, AS_IT_IS, AS_IT_IS, "", "i-0", "i-1"])
_JOINERS = st.sampled_from([AS_IT_IS, AS_IT_IS, AS_IT_IS, AS_IT_IS, "i-0", "i-1"])
_OFFER = st.sampled_from([*[Offer.BOTH] * 6, Offer.TURNED, Offer.RANGE, Offer.ROUND_ROBIN,
                          Offer.OTHER, Offer.NOTHING])  # fmt: skip
_KIND = st.sampled_from([*["consumer"] * 12, "connect", ""])
_THREE = st.tuples(st.booleans(), st.booleans(), st.booleans())
_LEAVERS = st.lists(st.tuples(_ACTOR, st.sampled_from([By.ID, By.ID, *By])), min_size=1, max_size=2)


class GroupMachine(RuleBasedStateMachine):
    """Both brokers have the same fresh group; no rule depends on how it stands."""

    arena: Arena

    def __init__(self) -> None:
        super().__init__()
        self.arena.found.check()
        self._playing = GroupPlaying(self.arena)

    # -- rules ---------------------------------------------------------------------------------

    @initialize(version=_VERSION, size=st.sampled_from([0, 1, 1, 2, 2, 3]),
                mortal=_THREE, static=_THREE, hasty=st.booleans())  # fmt: skip
    def gather(self, **drawn: Any) -> None:
        self._do(steps.Gather(**drawn))

    @rule(version=_VERSION, actor=_ACTOR, who=_WHO, instance=_JOINERS, offer=_OFFER,
          data=st.sampled_from("xxxy"), kind=_KIND, mortal=st.booleans())  # fmt: skip
    def join(self, **drawn: Any) -> None:
        self._do(steps.Join(**drawn))

    @rule(version=_VERSION, actor=_ACTOR, mortal=st.booleans(),
          instance=st.sampled_from([AS_IT_IS, AS_IT_IS, "i-0", "i-1"]))  # fmt: skip
    def join_well(self, **drawn: Any) -> None:
        self._do(steps.Join(**drawn))

    @rule(version=_VERSION, actor=_ACTOR, who=_WHO, off=_OFF,
          parts=st.sampled_from([Parts.AS_LEADER, Parts.AS_LEADER, *Parts]),
          named=st.sampled_from([Named.RIGHT, Named.RIGHT, *Named]))  # fmt: skip
    def sync(self, **drawn: Any) -> None:
        self._do(steps.Sync(**drawn))

    @rule(version=_VERSION, actor=_ACTOR, who=_WHO, off=_OFF, instance=_INSTANCE)
    def heartbeat(self, **drawn: Any) -> None:
        self._do(steps.Heartbeat(**drawn))

    @rule(version=_VERSION, actor=_ACTOR, who=_WHO, instance=_INSTANCE,
          off=st.sampled_from([0, 0, 0, -1, 1, None]),
          too_long=st.sampled_from([False, False, False, True]))  # fmt: skip
    def commit(self, **drawn: Any) -> None:
        self._do(steps.Commit(**drawn))

    @rule(version=_VERSION, leavers=_LEAVERS)
    def leave(self, version: int, leavers: list[tuple[int, By]]) -> None:
        self._do(steps.Leave(version, tuple(leavers)))

    @rule(version=_VERSION, actor=_ACTOR)
    def behave(self, **drawn: Any) -> None:
        self._do(steps.Behave(**drawn))

    @rule(version=_VERSION, rounds=st.integers(1, 3))
    def all_behave(self, **drawn: Any) -> None:
        self._do(steps.AllBehave(**drawn))

    @rule(actor=_ACTOR)
    def fall_silent(self, **drawn: Any) -> None:
        self._do(steps.FallSilent(**drawn))

    @rule()
    def wait_out(self) -> None:
        self._do(steps.WaitOut())

    @rule(version=_VERSION, act=st.sampled_from([steps.Describe, steps.ListAll, steps.Delete]))
    def look(self, version: int, act: type[Act]) -> None:
        self._do(act(version))

    # -- playing -------------------------------------------------------------------------------

    def _do(self, act: Act) -> None:
        self._playing.do(act)

    def teardown(self) -> None:
        try:
            self._playing.rest()
        finally:
            self._playing.end()
