"""Invariants of every group, independent of the other broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.codec.error_code import ErrorCode
from labs.group_model.choices import Joins, joins
from labs.group_model.difference import SeenAnswer, SentRequest
from labs.group_model.knowledge import Knowledge
from labs.group_model.names import UNNAMED

_STABLE = "Stable"


class Promises:
    """Remembers what the leader of the last generation assigned, by member id."""

    def __init__(self) -> None:
        self._generation = -1
        self._parts: dict[str, str] = {}
        self._holders: dict[str, str] = {}

    def broken(
        self, seen: SeenAnswer, asked: Mapping[int, SentRequest], known: Knowledge
    ) -> str | None:
        """Return the invariant that these answers break, or None."""
        if known.generation < 0:
            self._generation = -1
        told = joins(seen, asked)
        fresh = {n: said for n, said in told.items() if said["generation_id"] > known.generation}
        self._note_holders(told, asked)
        broken = _decreases(told, known) or _disagree(fresh)
        syncs = {
            asked[number].step.fields["member_id"]: (asked[number], said)
            for number, said in seen.answers.items()
            if asked[number].step.api == "SyncGroup" and said["error_code"] == ErrorCode.NONE
        }
        self._note_parts(syncs, known)
        return broken or self._other_part(syncs, seen, known)

    def _note_holders(self, told: Joins, asked: Mapping[int, SentRequest]) -> None:
        """Give a static member that has come back the assignment of its old id."""
        for number, said in told.items():
            instance = asked[number].step.fields.get("group_instance_id")
            if instance is not None:
                before = self._holders.get(instance, "")
                self._holders[instance] = said["member_id"]
                if before in self._parts:
                    self._parts[said["member_id"]] = self._parts[before]

    def _note_parts(self, syncs: Mapping[str, tuple[SentRequest, Any]], known: Knowledge) -> None:
        """Note the assignments in the first successful sync of a generation's leader."""
        if known.leader in syncs and known.generation != self._generation:
            self._generation = known.generation
            parts = syncs[known.leader][0].step.fields["assignments"]
            self._parts = {one["member_id"]: one["assignment"] for one in parts}

    def _other_part(
        self, syncs: Mapping[str, tuple[SentRequest, Any]], seen: SeenAnswer, known: Knowledge
    ) -> str | None:
        """Return a text for a member with another assignment than the leader's, or None."""
        if self._generation != known.generation:
            return None
        told = {name: said["assignment"] for name, (_, said) in syncs.items()}
        if seen.described["group_state"] == _STABLE:
            for one in seen.described["members"]:
                told.setdefault(one["member_id"], one["member_assignment"])
        for name, part in told.items():
            assigned = self._parts.get(name, "")
            if name != UNNAMED and part != assigned:
                return f"{name} has the part {part!r}, the leader assigned {assigned!r}"
        return None


def _decreases(told: Joins, known: Knowledge) -> str | None:
    lower = [one["generation_id"] for one in told.values()
             if one["generation_id"] < known.generation]  # fmt: skip
    return f"generation {lower[0]} comes after {known.generation}" if lower else None


def _disagree(fresh: Joins) -> str | None:
    """Return a text if joins of one generation differ, or not the leader alone got the members."""
    for name in ("generation_id", "protocol_name", "leader"):
        values = {said[name] for said in fresh.values()}
        if len(values) > 1:
            return f"members of one generation are told different {name}: {sorted(values)}"
    leading = [said["member_id"] for said in fresh.values() if said["members"]]
    if fresh and leading != [next(iter(fresh.values()))["leader"]]:
        return f"{leading} are told of the members, the leader is to be told"
    return None
