"""Steps of the state machine, as plain values that do not depend on the state of the group.

So the same values are the same steps in every play. Their effect depends on the answers so far:
"its own id" is no id as long as the client has not received one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

ACTORS = 4
"""Clients; one more than a group takes (group.max.size)."""


class Who(StrEnum):
    """The member id in a request."""

    OWN = "its own id"
    NONE = "no id"
    OTHER = "another's id"
    UNKNOWN = "an unknown id"


class Offer(StrEnum):
    """The protocols of a join: by the names that stand here, in this order."""

    BOTH = "range,roundrobin"
    TURNED = "roundrobin,range"
    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    OTHER = "sticky"
    NOTHING = ""


class Parts(StrEnum):
    """The assignments in a sync."""

    AS_LEADER = "all if it leads"
    ALL = "all, leader or not"
    NOTHING = "nothing"


class Named(StrEnum):
    """Protocol type and name of a sync, from the version on that says them."""

    RIGHT = "as it was told"
    WRONG = "another"
    MISSING = "none"


class By(StrEnum):
    """The form in which LeaveGroup names a member."""

    ID = "its id"
    INSTANCE = "its instance"
    BOTH = "both"
    WRONG = "its id and another's instance"


AS_IT_IS = "as it is"
"""The instance id of the actor's last join; others are ids, "" is none."""


@dataclass(frozen=True, slots=True)
class Act:
    """One step. ``version`` is counted through the versions that both serve."""

    version: int = -1

    def __str__(self) -> str:
        told = [f"{one.name}={getattr(self, one.name)!s}" for one in fields(self)]
        return f"{type(self).__name__}({', '.join(told)})"


@dataclass(frozen=True, slots=True)
class OfActor(Act):
    """A step of one client."""

    actor: int = 0


@dataclass(frozen=True, slots=True)
class Join(OfActor):
    """``mortal``: its session is short, so that it can time out."""

    who: Who = Who.OWN
    instance: str = AS_IT_IS
    offer: Offer = Offer.BOTH
    data: str = "x"
    kind: str = "consumer"
    mortal: bool = False


@dataclass(frozen=True, slots=True)
class Sync(OfActor):
    """``off`` is added to the generation that the actor knows."""

    who: Who = Who.OWN
    off: int = 0
    parts: Parts = Parts.AS_LEADER
    named: Named = Named.RIGHT


@dataclass(frozen=True, slots=True)
class Heartbeat(OfActor):
    """A heartbeat of the client."""

    who: Who = Who.OWN
    off: int = 0
    instance: str = AS_IT_IS


@dataclass(frozen=True, slots=True)
class Commit(OfActor):
    """``off`` as in Sync; with None it commits with generation -1, like a client that is no member.

    ``too_long``: its metadata, so that nothing is stored.
    """

    who: Who = Who.OWN
    off: int | None = 0
    instance: str = AS_IT_IS
    too_long: bool = False


@dataclass(frozen=True, slots=True)
class Leave(Act):
    """Some members leave; only the first where the version names a single one."""

    leavers: tuple[tuple[int, By], ...] = ((0, By.ID),)


@dataclass(frozen=True, slots=True)
class Behave(OfActor):
    """The client's next request of the protocol: join, join with its id, sync, heartbeat."""

    only_members: bool = False


@dataclass(frozen=True, slots=True)
class AllBehave(Act):
    """All clients with an id send their next request, one after the other, ``rounds`` times."""

    rounds: int = 3


@dataclass(frozen=True, slots=True)
class Gather(Act):
    """``size`` clients join and behave until the group is stable.

    ``mortal`` and ``static``: a flag for each client. ``hasty``: all members, also later ones, have
    a short rebalance timeout.
    """

    size: int = 0
    hasty: bool = False
    mortal: tuple[bool, ...] = ()
    static: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class FallSilent(OfActor):
    """One of the mortal members sends nothing any more, until it is removed."""


@dataclass(frozen=True, slots=True)
class WaitOut(Act):
    """Wait until the deadline of the rebalance is over, if it runs."""


@dataclass(frozen=True, slots=True)
class Describe(Act):
    """DescribeGroups."""


@dataclass(frozen=True, slots=True)
class ListAll(Act):
    """ListGroups."""


@dataclass(frozen=True, slots=True)
class Delete(Act):
    """DeleteGroups, which deletes only an empty group."""
