"""Conversations in parts, and the parts that shrinking leaves out."""

from __future__ import annotations

from harness.differential.conversation import ConversationStep
from harness.oracle.parted_conversation import BrokerEnd, PartedConversation, ends_like


def _step(number: int) -> ConversationStep:
    return ConversationStep("ListGroups", 0, {"number": number})


ENDS = ends_like("4.4.0")
WHOLE = PartedConversation("made", ((_step(0), _step(1)), (), (_step(2),)), ENDS)


def _numbers(conversation: PartedConversation) -> list[list[int]]:
    return [[step.fields["number"] for step in part] for part in conversation.parts]


def test_steps_have_places_through_all_parts() -> None:
    assert [step.fields["number"] for step in WHOLE.steps] == [0, 1, 2]
    assert [WHOLE.part_of(place) for place in range(3)] == [0, 0, 2]


def test_restarts_after_the_last_step_do_not_count() -> None:
    assert WHOLE.restarts == 2
    assert WHOLE.until(1).restarts == 0


def test_steps_that_are_left_out_leave_the_restarts() -> None:
    assert _numbers(WHOLE.without({0})) == [[1], [], [2]]
    assert _numbers(WHOLE.until(0)) == [[0], [], []]


def test_smaller_conversations_keep_the_last_step() -> None:
    assert WHOLE.smaller() == [(0,), (1,)]
    assert PartedConversation("made", ((_step(0),),), ()).smaller() == []
    halves = PartedConversation("made", (tuple(map(_step, range(17))),), ()).smaller()
    assert halves[:2] == [tuple(range(8)), tuple(range(8, 16))]
    assert [len(one) for one in halves] == [8] * 2 + [4] * 4 + [2] * 8


def test_lines_show_restarts_between_steps() -> None:
    assert WHOLE.lines() == [
        f"  0  {_step(0)}",
        f"  1  {_step(1)}",
        "  stop and restart",
        "  kill and restart",
        f"  2  {_step(2)}",
    ]


def test_no_broker_like_a_release_before_4_0_is_killed() -> None:
    assert ends_like("") == ENDS == (BrokerEnd.STOP, BrokerEnd.KILL)
    assert ends_like("3.9.2") == (BrokerEnd.STOP, BrokerEnd.STOP)
