"""Members that join one generation together, as a check expects it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from suites.protocol.support.classic_group import ClientMember
from suites.protocol.support.expect import expect_error


def send_joins(members: Sequence[ClientMember]) -> None:
    """Send a JoinGroup for each member, in this order; take no response."""
    for member in members:
        member.send_join()


def expect_one_generation(members: Sequence[ClientMember]) -> int:
    """Return the generation that all have joined; the leader receives exactly these members."""
    answers = [member.take_join() for member in members]
    for member, answer in zip(members, answers, strict=True):
        what = f"join of {member.instance_id or 'a member'}"
        expect_error(answer.error_code, ErrorCode.NONE, what)
        member.remember(answer)
    generations = [answer.generation_id for answer in answers]
    assert len(set(generations)) == 1, f"the generations are {generations}, expected one"
    ids = {answer.member_id for answer in answers}
    rosters = [{entry.member_id for entry in answer.members} for answer in answers]
    assert ids in rosters, f"the members receive {rosters}, none of them {ids}"
    return generations[0]


def expect_next_generation(members: Sequence[ClientMember], generation: int) -> None:
    """All have joined the generation after this one, as :func:`expect_one_generation`."""
    found = expect_one_generation(members)
    assert found == generation + 1, f"generation {found} after {generation}"
