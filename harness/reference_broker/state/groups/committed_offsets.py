"""Committed offsets of groups: one for each partition, until it expires or is removed.

Source: classes OffsetMetadataManager and OffsetExpirationConditionImpl; KIP-211. The members of a
group determine if it may commit, and since when its offsets may expire: that is checked elsewhere,
and passed as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.ids import Offset, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.pending_offsets import PendingOffsets
from harness.reference_broker.state.memory_budget import PER_THING_BYTES, MemoryBudget

if TYPE_CHECKING:
    from harness.reference_broker.state.groups.group_log import GroupLog
    from harness.reference_broker.state.groups.group_records import Commits
    from harness.reference_broker.state.producers.producer_ids import ProducerIdentity

_EMPTY: Mapping[Place, CommittedOffset] = {}


@dataclass(frozen=True, slots=True)
class OffsetLimits:
    """The settings offsets.retention.minutes and offset.metadata.max.bytes.

    `memory_bytes` limits the estimated memory of all offsets; Kafka has no such setting.
    """

    retention_ms: int
    metadata_characters: int
    memory_bytes: int = 256 * 1024 * 1024


class CommittedOffsets:
    """The offsets of all groups; a group without offsets has no entry.

    The oldest clients (OffsetCommit 0) have their offsets apart, as in ZooKeeper: only they read
    them. Every other change is written to the log. `pending` has the offsets of transactions that
    are not decided.
    """

    __slots__ = ("_aside", "_by_group", "_limits", "_log", "_room", "pending")

    def __init__(self, limits: OffsetLimits, log: GroupLog) -> None:
        self._log = log
        self._by_group: dict[str, dict[Place, CommittedOffset]] = {}
        self._aside: dict[str, dict[Place, Offset]] = {}
        self._limits = limits
        self.pending = PendingOffsets(keep_groups=not log.groups_outlive_offsets)
        self._room = MemoryBudget(limits.memory_bytes, self._used_bytes)

    @property
    def retention_ms(self) -> int:
        """The broker's retention of offsets."""
        return self._limits.retention_ms

    def of_group(self, group_id: str) -> Mapping[Place, CommittedOffset]:
        """Return all offsets of one group, in the order of their first commits."""
        return self._by_group.get(group_id, _EMPTY)

    def has_any(self, group_id: str) -> bool:
        """True if the group has a committed offset."""
        return group_id in self._by_group

    def takes_metadata(self, metadata: str | None) -> bool:
        """True if the metadata is short enough; Kafka counts UTF-16 units."""
        units = len((metadata or "").encode("utf-16-le", "surrogatepass")) // 2
        return units <= self._limits.metadata_characters

    def has_room_for(self, group_id: str, metadata: Iterable[str | None], now: TimeMs) -> bool:
        """Reserve memory for so many offsets with their metadata; False if there is not enough."""
        return self._room.take(_size_of(group_id, metadata), now)

    def commit(self, group_id: str, commits: Commits, now: TimeMs) -> bool:
        """Store offsets; the latest commit counts, even if its offset is lower.

        Return False if they are too many for one batch.
        """
        if not self._log.keep_commits(group_id, commits, now):
            return False
        if commits:
            self._by_group.setdefault(group_id, {}).update(commits)
            self.pending.replaced(group_id, (place for place, _ in commits))
        return True

    def commit_in_transaction(
        self, group_id: str, commits: Commits, producer: ProducerIdentity, now: TimeMs
    ) -> ErrorCode:
        """Store offsets that become visible when the producer's transaction is committed."""
        error = self._log.keep_in_transaction(group_id, commits, producer, now)
        if error is ErrorCode.NONE and commits:
            self.pending.put(producer.producer_id, group_id, commits)
        return error

    def end_transaction(
        self, producer_id: ProducerId, concerns: Callable[[str], bool], *, aborts: bool
    ) -> None:
        """End a producer's transaction in the groups that its marker concerns."""
        for group_id, offsets in self.pending.end(producer_id, concerns, aborts=aborts).items():
            if offsets:
                self._by_group.setdefault(group_id, {}).update(offsets)

    def restore(self, group_id: str, offsets: Mapping[Place, CommittedOffset]) -> None:
        """Set all offsets of one group, as they were read from the log."""
        self._by_group[group_id] = dict(offsets)

    def drop(self, group_id: str) -> None:
        """Forget a group that another broker coordinates now; write nothing to the log."""
        self._by_group.pop(group_id, None)
        self.pending.drop_group(group_id)

    def commit_aside(self, group_id: str, place: Place, offset: Offset) -> None:
        """Store an offset apart from the others, instead of an earlier one; it does not expire."""
        self._aside.setdefault(group_id, {})[place] = offset

    def put_aside(self, group_id: str) -> Mapping[Place, Offset]:
        """Return all offsets of one group that are stored apart."""
        return self._aside.get(group_id, {})

    def remove(self, group_id: str, place: Place, now: TimeMs) -> None:
        """Remove one offset, if there is one; a pending one does not become visible any more."""
        pending = self.pending.forget(lambda group, at: (group, at) == (group_id, place))
        self._keep(group_id, lambda found, _: found != place, now, pending.get(group_id, ()))

    def remove_group(self, group_id: str, now: TimeMs) -> None:
        """Remove all offsets of a group."""
        self.pending.drop_group(group_id)
        self._keep(group_id, lambda *_: False, now)

    def remove_topic(self, topic: str, count: int, now: TimeMs) -> None:
        """Remove the offsets of the `count` partitions of a deleted topic from every group.

        Before Kafka 2.0 there may be offsets of other partitions, and these stay.
        """

        def is_kept(at: Place, _: CommittedOffset) -> bool:
            return at[0] != topic or not 0 <= at[1] < count

        pending = self.pending.forget(lambda _, at: at[0] == topic)
        for group_id in dict.fromkeys([*self._by_group, *pending]):
            self._keep(group_id, is_kept, now, pending.get(group_id, ()))

    def expire(
        self,
        now: TimeMs,
        age_since: Callable[[str, Place, CommittedOffset], TimeMs | None],
    ) -> None:
        """Remove expired offsets.

        `age_since` returns the time at which an offset's retention began; None while it must stay.
        """
        for group_id in list(self._by_group):

            def is_kept(place: Place, held: CommittedOffset, group: str = group_id) -> bool:
                return not self._is_over(held, age_since(group, place, held), now)

            self._keep(group_id, is_kept, now)

    def _used_bytes(self) -> int:
        held = (
            _size_of(group_id, (committed.metadata for committed in places.values()))
            for group_id, places in self._by_group.items()
        )
        aside = (_size_of(group_id, [""] * len(put)) for group_id, put in self._aside.items())
        pending = (_size_of(*each) for each in self.pending.sizes())
        return sum(held) + sum(aside) + sum(pending)

    def _is_over(self, committed: CommittedOffset, since: TimeMs | None, now: TimeMs) -> bool:
        if since is None:
            return False
        if committed.expires_at is not None:
            return now >= committed.expires_at
        return now - since >= self._limits.retention_ms

    def _keep(
        self,
        group_id: str,
        wanted: Callable[[Place, CommittedOffset], bool],
        now: TimeMs,
        pending: Collection[Place] = (),
    ) -> None:
        """Keep the `wanted` offsets; those that are gone, and `pending` ones, get tombstones."""
        held = self._by_group.get(group_id, {})
        left = {place: committed for place, committed in held.items() if wanted(place, committed)}
        gone = [place for place in held if place not in left]
        gone += [place for place in sorted(pending) if place not in held]
        self._log.forget_offsets(group_id, gone, now)
        if left:
            self._by_group[group_id] = left
        else:
            self._by_group.pop(group_id, None)


def _size_of(group_id: str, metadata: Iterable[str | None]) -> int:
    """Return the estimated bytes of one group's offsets, and of the group that exists for them."""
    offsets = sum(PER_THING_BYTES + len(text or "") for text in metadata)
    return 2 * PER_THING_BYTES + len(group_id) + offsets
