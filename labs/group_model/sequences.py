"""Orders of steps that are rarely drawn and easily got wrong; played before the drawn ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labs.group_model.steps import (
    Act,
    AllBehave,
    Behave,
    By,
    Commit,
    Delete,
    Describe,
    FallSilent,
    Gather,
    Heartbeat,
    Join,
    Leave,
    ListAll,
    Offer,
    Sync,
    WaitOut,
    Who,
)

_NONE = (False, False, False)
_FIRST, _ALL = (True, False, False), (True, True, True)
_NEWCOMER = (Join(-1, 3), Behave(-1, 3, only_members=True))
"""A new client joins, and waits."""
_NOTHING_STORED = Commit(-1, 0, off=None, too_long=True)


def _gathered(
    size: int,
    static: tuple[bool, ...] = _NONE,
    mortal: tuple[bool, ...] = _NONE,
    *,
    hasty: bool = False,
) -> Gather:
    return Gather(-1, size, hasty, mortal, static)


def _comes_back(version: int, actor: int = 0, offer: Offer = Offer.BOTH) -> Join:
    """A static member that has forgotten its id."""
    return Join(version, actor, Who.NONE, instance=f"i-{actor}", offer=offer)


SEQUENCES: Mapping[str, Sequence[Act]] = {
    "a pending member joins as a static one": (
        Join(-1, 0), Join(-1, 0, instance="i-0"), Join(-1, 0), AllBehave(-1, 2),
    ),
    "a pending member leaves, and joins with its id": (
        Join(-1, 0), Leave(-1, ((0, By.ID),)), Join(-1, 0), Heartbeat(-1, 0),
    ),
    "a group with a pending member only is deleted": (
        Join(-1, 0), Delete(-1), Join(-1, 0), Join(-1, 0),
    ),
    "a commit that stores nothing makes a group that is shown later": (
        _NOTHING_STORED, ListAll(-1), Describe(-1), Join(-1, 1), ListAll(-1), Describe(-1),
    ),
    "a commit that stores nothing makes a group that can be deleted": (
        _NOTHING_STORED, Delete(-1), Delete(-1), ListAll(-1), Commit(-1, 0, off=None),
    ),
    "a static leader comes back to a stable group": (
        _gathered(2, _ALL), _comes_back(-1), Heartbeat(-1, 0), Sync(-1, 0), Behave(-1, 1),
    ),
    "a static leader comes back that cannot skip the assignment": (
        _gathered(2, _ALL), _comes_back(6), Heartbeat(-1, 0), Sync(-1, 0), Behave(-1, 1),
    ),
    "a static follower comes back to a stable group": (
        _gathered(2, _ALL), _comes_back(-1, 1), Sync(-1, 1), Heartbeat(-1, 1), AllBehave(-1, 1),
    ),
    "a static member comes back with other protocols": (
        _gathered(2, _ALL), _comes_back(-1, 1, Offer.ROUND_ROBIN), AllBehave(-1, 3),
    ),
    "a static member comes back with protocols in another order, twice": (
        _gathered(2, _ALL), _comes_back(-1, 1, Offer.TURNED), _comes_back(-1, 0), AllBehave(-1, 3),
    ),
    "a static leader comes back before it has synced": (
        _gathered(1, _ALL), *_NEWCOMER, Join(-1, 0), _comes_back(-1), AllBehave(-1, 3),
    ),
    "a static member comes back while it waits to join": (
        _gathered(2, _ALL), *_NEWCOMER, Join(-1, 1), _comes_back(-1, 1), AllBehave(-1, 3),
    ),
    "a static member comes back while it waits to sync": (
        _gathered(2, _ALL), *_NEWCOMER, Join(-1, 1), Join(-1, 0), Sync(-1, 1), _comes_back(-1, 1),
        AllBehave(-1, 3),
    ),
    "somebody else comes with the instance of a member": (
        _gathered(2, _ALL), Join(-1, 2, Who.NONE, instance="i-1"), Heartbeat(-1, 1),
        Commit(-1, 1), Leave(-1, ((1, By.BOTH),)), AllBehave(-1, 2),
    ),
    "a mortal static member comes back": (
        _gathered(2, _ALL, _ALL), _comes_back(-1, 1), AllBehave(-1, 1), FallSilent(-1, 0),
        AllBehave(-1, 3),
    ),
    "members join again while their join waits": (
        _gathered(2), *_NEWCOMER, Join(-1, 1), Join(-1, 1), Join(-1, 0), AllBehave(-1, 2),
    ),
    "members leave while they wait": (
        _gathered(2), *_NEWCOMER, Join(-1, 1), Leave(-1, ((1, By.ID), (3, By.ID))), Join(-1, 0),
        AllBehave(-1, 2),
    ),
    "a member leaves while it waits to sync": (
        _gathered(2), *_NEWCOMER, Join(-1, 1), Join(-1, 0), Sync(-1, 1), Leave(-1, ((1, By.ID),)),
        AllBehave(-1, 3),
    ),
    "the leader falls silent before it syncs": (
        _gathered(2, mortal=_FIRST), *_NEWCOMER, Join(-1, 1), Join(-1, 0, mortal=True),
        Sync(-1, 1), FallSilent(-1, 0), AllBehave(-1, 3),
    ),
    "all but one do not join in time": (
        _gathered(2, hasty=True), *_NEWCOMER, WaitOut(), AllBehave(-1, 3),
    ),
    "the leader does not sync in time": (
        _gathered(2, hasty=True), *_NEWCOMER, Join(-1, 1), Join(-1, 0), Sync(-1, 1), Sync(-1, 3),
        WaitOut(), AllBehave(-1, 3),
    ),
    "static members do not join in time": (
        _gathered(2, _ALL, hasty=True), *_NEWCOMER, WaitOut(), AllBehave(-1, 3),
    ),
    "nobody joins in time, but all are static": (
        _gathered(2, _ALL, hasty=True), *_NEWCOMER, Leave(-1, ((3, By.ID),)), WaitOut(),
        AllBehave(-1, 3),
    ),
}  # fmt: skip
"""By what happens in them."""
