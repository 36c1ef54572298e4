"""What is done to whom, with which settings, and what it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from harness.histories.durability import Allowance

IDEMPOTENT, ALL, LEADER = "idempotent", "acks=all", "acks=1"
PRODUCERS = {IDEMPOTENT: -1, ALL: -1, LEADER: 1}
"""The producers of a load, and the acks that each asks for."""


class Fault(StrEnum):
    KILL = "kill"
    POWER = "power"


class Victims(StrEnum):
    ONE = "one"
    ALL = "all"


class Back(StrEnum):
    """When a node is started again."""

    AT_ONCE = "at once"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class Case:
    """``nodes``: brokers; ``may_lose``: by producer, nothing where it is not named."""

    name: str
    fault: Fault
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
    Case("kill", Fault.KILL, 1, Victims.ONE, "the page cache stays: nothing"),
    Case("kill-one", Fault.KILL, 3, Victims.ONE,
         "of acks=1 what no follower had", may_lose=_ONE_COPY),
    Case("kill-all", Fault.KILL, 3, Victims.ALL,
         "of acks=1 what no follower had, where another leads first", may_lose=_ONE_COPY),
    Case("power-flush-1", Fault.POWER, 1, Victims.ONE,
         "each message is flushed before it is acknowledged: nothing", {FLUSH_MESSAGES: "1"}),
    Case("power-flush-10", Fault.POWER, 1, Victims.ONE,
         "ten messages at the end of each partition", {FLUSH_MESSAGES: str(BETWEEN)}, _AT_MOST),
    Case("power", Fault.POWER, 1, Victims.ONE,
         "all that was not flushed, from an end of each partition", {}, _UNTIL_FLUSHED),
    Case("power-one-fenced", Fault.POWER, 3, Victims.ONE,
         "of acks=1 what no follower had", {}, _ONE_COPY, Back.FENCED),
    Case("power-one", Fault.POWER, 3, Victims.ONE,
         "the same: nobody may register again before it is fenced", {}, _ONE_COPY),
    Case("power-all", Fault.POWER, 3, Victims.ALL,
         "what no disk had", {}, _UNTIL_FLUSHED),
)  # fmt: skip
"""By their names on a command line. ``says`` ends the sentence: what may be lost is ..."""


def named(name: str) -> Case:
    """Raises KeyError."""
    return {case.name: case for case in CASES}[name]


def usual(nodes: int) -> list[Case]:
    """Those of so many brokers in which processes are killed."""
    return [case for case in CASES if case.nodes == nodes and case.fault is Fault.KILL]
