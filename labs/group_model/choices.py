"""Free choices of a coordinator, in which two correct coordinators may differ.

One is the leader after the old leader has left (ClassicGroup.remove, maybeElectNewJoinedLeader: the
first of a hash map by ids that are drawn). The other is the protocol among those with equally many
votes (selectProtocol: the first of a hash map by name).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from harness.codec.error_code import ErrorCode
from labs.group_model.difference import LeaderIsFree, ProtocolIsFree, SeenAnswer, SentRequest
from labs.group_model.knowledge import Knowledge

Joins = Mapping[int, Mapping[str, Any]]


def joins(seen: SeenAnswer, asked: Mapping[int, SentRequest]) -> Joins:
    """Return the successful joins among the new answers, by request."""
    return {
        number: said
        for number, said in seen.answers.items()
        if asked[number].step.api == "JoinGroup" and said.get("error_code") == ErrorCode.NONE
    }


def check_choices(
    seen: tuple[SeenAnswer, SeenAnswer], asked: Mapping[int, SentRequest], known: Knowledge
) -> None:
    """Raise LeaderIsFree or ProtocolIsFree if a free choice explains the difference."""
    one, other = (joins(side, asked) for side in seen)
    if not one or one.keys() != other.keys():
        return
    if _all(one, "protocol_name") != _all(other, "protocol_name"):
        if _is_tie(asked[number] for number in one):
            raise ProtocolIsFree
    elif _without_leader(seen[0], one) == _without_leader(seen[1], other) and _leader_is_gone(
        known, asked, one
    ):
        raise LeaderIsFree


def _all(answers: Joins, name: str) -> set[Any]:
    return {said[name] for said in answers.values()}


def _is_tie(requests: Iterable[SentRequest]) -> bool:
    """True if two protocols have the most votes; a vote is a member's first shared protocol."""
    offers = [[one["name"] for one in asked.step.fields["protocols"]] for asked in requests]
    shared = set(offers[0]).intersection(*offers)
    votes = Counter(next(name for name in offer if name in shared) for offer in offers)
    most = votes.most_common(2)
    return len(most) > 1 and most[0][1] == most[1][1]


def _without_leader(seen: SeenAnswer, told: Joins) -> Any:
    """Return everything but the choice of the leader; only the leader gets the list of members."""
    others = {number: said for number, said in seen.answers.items() if number not in told}
    plain = {
        number: {k: v for k, v in said.items() if k not in ("leader", "members")}
        for number, said in told.items()
    }
    rosters = [
        [(one["member_id"], one["metadata"]) for one in said["members"]]  # more by its version
        for said in told.values()
        if said["members"]
    ]
    return others, plain, rosters, seen.described


def _leader_is_gone(known: Knowledge, asked: Mapping[int, SentRequest], told: Joins) -> bool:
    """True if the leader has not joined, neither under its id nor, if static, under a new one."""
    instance = known.instances.get(known.leader)
    for number, said in told.items():
        is_same = asked[number].step.fields.get("group_instance_id") == instance
        if said["member_id"] == known.leader or (instance is not None and is_same):
            return False
    return True
