"""Offsets that were committed in a transaction which is not decided yet.

They become visible with the marker of a commit, and are dropped with that of an abort. What is
stored later wins, outside of a transaction or in another one, whichever ends first. Source: class
OffsetMetadataManager (pendingTransactionalOffsets, replayEndTransactionMarker); KIP-98, KIP-447.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from harness.base.ids import ProducerId
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place


class _Pending(NamedTuple):
    """`offset` is None if a later one has replaced it; `number` counts the stored ones."""

    offset: CommittedOffset | None
    number: int


_OfGroup = dict[Place, _Pending]


class PendingOffsets:
    """The pending offsets of all groups, by producer.

    If they `keep_groups`, a transaction still counts as one with offsets of a group when all of
    these were deleted (up to 3.9, GroupMetadata.removeOffsets).
    """

    __slots__ = ("_by_producer", "_keep_groups", "_stored")

    def __init__(self, *, keep_groups: bool = False) -> None:
        self._by_producer: dict[ProducerId, dict[str, _OfGroup]] = {}
        self._keep_groups = keep_groups
        self._stored = 0

    def put(
        self,
        producer_id: ProducerId,
        group_id: str,
        commits: Iterable[tuple[Place, CommittedOffset]],
    ) -> None:
        """Add offsets that were stored as a part of the producer's transaction."""
        self._stored += 1
        held = self._by_producer.setdefault(producer_id, {}).setdefault(group_id, {})
        held.update((place, _Pending(offset, self._stored)) for place, offset in commits)

    def replaced(self, group_id: str, places: Iterable[Place]) -> None:
        """Note offsets that were committed outside of a transaction: they are the latest."""
        for place in places:
            self._replace_before(group_id, place, self._stored + 1)

    def end(
        self, producer_id: ProducerId, concerns: Callable[[str], bool], *, aborts: bool
    ) -> Mapping[str, Mapping[Place, CommittedOffset]]:
        """Remove the offsets of a transaction; return those by group that become visible.

        A marker concerns the groups of one partition: those for which `concerns` is true.
        """
        groups = self._by_producer.get(producer_id, {})
        ended = {group_id: held for group_id, held in groups.items() if concerns(group_id)}
        for group_id in ended:
            self._drop(producer_id, group_id)
        if aborts:
            return {}
        for group_id, held in ended.items():
            for place, one in held.items():
                self._replace_before(group_id, place, one.number)
        return {
            group_id: {place: one.offset for place, one in held.items() if one.offset is not None}
            for group_id, held in ended.items()
        }

    def _replace_before(self, group_id: str, place: Place, number: int) -> None:
        """Note that the offsets of a partition that were stored earlier are replaced."""
        for groups in self._by_producer.values():
            held = groups.get(group_id, {})
            if place in held and held[place].number < number:
                held[place] = held[place]._replace(offset=None)

    def groups(self) -> Collection[str]:
        """Return the groups with pending offsets."""
        return {group_id for groups in self._by_producer.values() for group_id in groups}

    def is_pending(self, group_id: str, place: Place) -> bool:
        """True if a transaction that is not decided has an offset of this partition."""
        return any(place in groups.get(group_id, ()) for groups in self._by_producer.values())

    def has_any(self, group_id: str) -> bool:
        """True if a transaction that is not decided has an offset of the group."""
        return any(group_id in groups for groups in self._by_producer.values())

    def drop_group(self, group_id: str) -> None:
        """Forget the pending offsets of a group."""
        for producer_id in list(self._by_producer):
            self._drop(producer_id, group_id)

    def forget(self, is_deleted: Callable[[str, Place], bool]) -> Mapping[str, Collection[Place]]:
        """Forget offsets that were deleted; return their partitions by group.

        The marker of their transaction does not make them visible any more.
        """
        forgotten: dict[str, set[Place]] = {}
        for producer_id, groups in list(self._by_producer.items()):
            for group_id, held in list(groups.items()):
                gone = {place for place in held if is_deleted(group_id, place)}
                if not gone:
                    continue
                forgotten.setdefault(group_id, set()).update(gone)
                groups[group_id] = {at: one for at, one in held.items() if at not in gone}
                if not groups[group_id] and not self._keep_groups:
                    self._drop(producer_id, group_id)
        return forgotten

    def adopt(self, others: PendingOffsets) -> None:
        """Add the offsets that were read from a log."""
        self._stored = max(self._stored, others._stored)
        for producer_id, groups in others._by_producer.items():
            self._by_producer.setdefault(producer_id, {}).update(groups)

    def sizes(self) -> Iterable[tuple[str, list[str | None]]]:
        """Yield each group with the metadata of its pending offsets."""
        for groups in self._by_producer.values():
            for group_id, held in groups.items():
                offsets = [one.offset for one in held.values()]
                yield group_id, [None if one is None else one.metadata for one in offsets]

    def _drop(self, producer_id: ProducerId, group_id: str) -> None:
        groups = self._by_producer[producer_id]
        groups.pop(group_id, None)
        if not groups:
            del self._by_producer[producer_id]
