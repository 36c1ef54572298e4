"""The cases: a fault, its victims, the brokers' settings, and the allowed losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from harness.histories.durability import Allowance

IDEMPOTENT, ALL, LEADER = "idempotent", "acks=all", "acks=1"
PRODUCERS = {IDEMPOTENT: -1, ALL: -1, LEADER: 1}
"""The producers of a load, with their acks."""


class CrashFault(StrEnum):
    KILL = "kill"
    POWER = "power"


class Victims(StrEnum):
    ONE = "one"
    ALL = "all"


class Back(StrEnum):
    """The time of a node's restart."""

    AT_ONCE = "at once"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class CrashCase:
    """``nodes``: number of brokers; ``may_lose``: losses by producer, none for other producers."""

    name: str
    fault: CrashFault
    nodes: int
    victims: Victims
    says: str
    settings: Mapping[str, str] = field(default_factory=dict)
    may_lose: Mapping[str, Allowance] = field(default_factory=dict)
    back: Back = Back.AT_ONCE


FLUSH_MESSAGES = "log.flush.interval.messages"
BETWEEN = 10
_UNTIL_FLUSHED = dict.fromkeys(PRODUCERS, Allowance(inf, "nothing was flushed"))
_AT_MOST = dict.fromkeys(PRODUCERS, Allowance(BETWEEN, f"flushed every {BETWEEN} messages"))
_ONE_COPY = {LEADER: Allowance(inf, "acks=1 awaits no follower, another may lead behind it")}

CASES = (
    CrashCase("kill", CrashFault.KILL, 1, Victims.ONE, "the page cache stays: nothing"),
    CrashCase("kill-one", CrashFault.KILL, 3, Victims.ONE,
         "of acks=1 what no follower had", may_lose=_ONE_COPY),
    CrashCase("kill-all", CrashFault.KILL, 3, Victims.ALL,
         "of acks=1 what no follower had, where another leads first", may_lose=_ONE_COPY),
    CrashCase("power-flush-1", CrashFault.POWER, 1, Victims.ONE,
         "each message is flushed before it is acknowledged: nothing", {FLUSH_MESSAGES: "1"}),
    CrashCase("power-flush-10", CrashFault.POWER, 1, Victims.ONE,
         "ten messages at the end of each partition", {FLUSH_MESSAGES: str(BETWEEN)}, _AT_MOST),
    CrashCase("power", CrashFault.POWER, 1, Victims.ONE,
         "all that was not flushed, from an end of each partition", {}, _UNTIL_FLUSHED),
    CrashCase("power-one-fenced", CrashFault.POWER, 3, Victims.ONE,
         "of acks=1 what no follower had", {}, _ONE_COPY, Back.FENCED),
    CrashCase("power-one", CrashFault.POWER, 3, Victims.ONE,
         "the same: no broker may register again before it is fenced", {}, _ONE_COPY),
    CrashCase("power-all", CrashFault.POWER, 3, Victims.ALL,
         "what no disk had", {}, _UNTIL_FLUSHED),
)  # fmt: skip
"""All cases; their names are used on the command line. ``says``: the possible loss."""


def named(name: str) -> CrashCase:
    """Return the case with this name. Raises KeyError."""
    return {case.name: case for case in CASES}[name]


def usual(nodes: int) -> list[CrashCase]:
    """Return the cases with this number of brokers in which processes are killed."""
    return [case for case in CASES if case.nodes == nodes and case.fault is CrashFault.KILL]
