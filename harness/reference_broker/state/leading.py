"""Leader's side of one partition: how far its followers are, who is in sync, what is committed.

Nothing here waits, reads a clock or sends. Source: classes Partition and Replica; KIP-497 (the
ISR is proposed to the controller), KIP-841 and KIP-903 (who may be in it).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.reference_broker.state.brokers import Brokers
from harness.reference_broker.state.partition_registration import PartitionRegistration

_UNKNOWN, _LONG_AGO = Offset(-1), TimeMs(0)
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
ANY_EPOCH = -1
"""The broker epoch of a follower that does not say which incarnation it is."""


@dataclass(frozen=True, slots=True)
class ReplicationRules:
    """What is the same for all partitions of a broker.

    Attributes:
        lag_ms: so long a follower may be behind and in sync (``replica.lag.time.max.ms``).
        holds_below_minimum: nothing is committed while fewer than min.insync.replicas are in sync,
            which count as no more than there are replicas; since 3.7 (KAFKA-15583, KIP-966).
        selects_by_rack: consumers are sent to a follower in their rack (KIP-392).
    """

    lag_ms: int = 30_000
    holds_below_minimum: bool = True
    selects_by_rack: bool = False


@dataclass(slots=True)
class FollowerProgress:
    """What the leader knows of one follower. Times are when it asked.

    `end_offset` is its log's end, known from the offset of its last fetch; `leader_end_seen` was
    the leader's end at that fetch. `broker_epoch` is None until it has fetched.
    """

    end_offset: Offset = _UNKNOWN
    start_offset: Offset = _UNKNOWN
    leader_end_seen: Offset = _UNKNOWN
    fetched_at: TimeMs = _LONG_AGO
    caught_up_at: TimeMs = _LONG_AGO
    broker_epoch: int | None = None

    def fetched(
        self, offset: Offset, start: Offset, leader_end: Offset, broker_epoch: int, now: TimeMs
    ) -> None:
        """It asked for `offset`, so it has everything below.

        Caught up it was now, if that is all there is; at its last fetch, if it is all that there
        was then.
        """
        if offset >= leader_end:
            self.caught_up_at = max(self.caught_up_at, now)
        elif offset >= self.leader_end_seen:
            self.caught_up_at = max(self.caught_up_at, self.fetched_at)
        self.end_offset, self.start_offset = offset, start
        self.leader_end_seen = max(leader_end, self.leader_end_seen)
        self.fetched_at, self.broker_epoch = now, broker_epoch

    def begin_epoch(
        self, leader_end: Offset, *, is_new_leader: bool, is_in_sync: bool, now: TimeMs
    ) -> None:
        """A leader epoch begins: who is in sync counts as caught up (``resetReplicaState``)."""
        self.caught_up_at = now if is_in_sync else TimeMs(0)
        if is_new_leader:
            self.end_offset = self.start_offset = self.leader_end_seen = _UNKNOWN
            self.fetched_at, self.broker_epoch = TimeMs(0), None
        else:
            self.leader_end_seen = leader_end
            self.fetched_at = self.caught_up_at

    def is_caught_up(self, leader_end: Offset, lag_ms: int, now: TimeMs) -> bool:
        """Whether it has all there is, or had it not too long ago."""
        return self.end_offset == leader_end or now - self.caught_up_at <= lag_ms


@dataclass(slots=True)
class Leading:
    """One leader's reign. `isr` is what the controller committed, `proposed` what it was asked for.

    A member that is to be added counts at once, one that is to be removed counts until the
    controller has agreed: that is the maximal ISR.
    """

    own: BrokerId
    epoch: LeaderEpoch
    epoch_start: Offset
    partition_epoch: int = -1
    isr: frozenset[BrokerId] = frozenset()
    proposed: frozenset[BrokerId] | None = None
    followers: dict[BrokerId, FollowerProgress] = field(default_factory=dict)

    @property
    def maximal_isr(self) -> frozenset[BrokerId]:
        """Whom the high watermark waits for."""
        return self.isr if self.proposed is None else self.isr | self.proposed

    def registered(
        self,
        registration: PartitionRegistration,
        end: Offset,
        now: TimeMs,
        *,
        is_new_leader: bool,
        is_new_epoch: bool,
    ) -> None:
        """The controller has decided: its word replaces what was proposed.

        Not where an answer has told it already: what was proposed since then is still on its way.
        Kafka forgets that, and for a moment commits without the follower that the controller adds
        (class Partition, makeLeader at the same partition epoch).
        """
        others = [each for each in registration.replicas if each != self.own]
        self.followers = {each: self.followers.get(each, FollowerProgress()) for each in others}
        if is_new_epoch:
            for broker_id, follower in self.followers.items():
                in_sync = broker_id in registration.isr
                follower.begin_epoch(end, is_new_leader=is_new_leader, is_in_sync=in_sync, now=now)
        if is_new_epoch or registration.partition_epoch > self.partition_epoch:
            self.isr, self.proposed = frozenset(registration.isr), None
            self.partition_epoch = registration.partition_epoch

    def committed(self, isr: frozenset[BrokerId], partition_epoch: int) -> None:
        """The controller has answered a proposal."""
        self.isr, self.proposed, self.partition_epoch = isr, None, partition_epoch

    def high_watermark(
        self, end: Offset, minimum: int, rules: ReplicationRules, brokers: Brokers, now: TimeMs
    ) -> Offset | None:
        """Up to where all that count have the records; None while nothing may be committed.

        Beside the maximal ISR a follower counts that has caught up and may join (KAFKA-7128).
        """
        if rules.holds_below_minimum and len(self.isr) < minimum:
            return None
        members = self.maximal_isr
        lowest = end
        for broker_id, follower in self.followers.items():
            if follower.end_offset >= lowest:
                continue
            if broker_id in members or (
                follower.is_caught_up(end, rules.lag_ms, now) and self.may_join(broker_id, brokers)
            ):
                lowest = follower.end_offset
        return lowest

    def may_join(self, broker_id: BrokerId, brokers: Brokers) -> bool:
        """Whether this incarnation of a follower may be in sync at all."""
        registered = brokers.get(broker_id)
        fetched_as = self.followers[broker_id].broker_epoch
        if registered is None or fetched_as is None or not brokers.is_active(broker_id):
            return False
        return fetched_as in (ANY_EPOCH, registered.epoch)

    def expansion(
        self, broker_id: BrokerId, high_watermark: Offset, brokers: Brokers
    ) -> frozenset[BrokerId] | None:
        """The ISR with one follower more, when it has all that is committed, of this epoch too."""
        if self.proposed is not None or broker_id in self.isr:
            return None
        end = self.followers[broker_id].end_offset
        if end < high_watermark or end < self.epoch_start or not self.may_join(broker_id, brokers):
            return None
        return self.isr | {broker_id}

    def shrinkage(self, end: Offset, lag_ms: int, now: TimeMs) -> frozenset[BrokerId] | None:
        """The ISR without those that are behind for too long; None when there are none."""
        if self.proposed is not None:
            return None
        behind = {
            broker_id
            for broker_id, follower in self.followers.items()
            if broker_id in self.isr and not follower.is_caught_up(end, lag_ms, now)
        }
        return self.isr - behind if behind else None

    def broker_epochs_of(self, members: Iterable[BrokerId], own_epoch: int) -> dict[BrokerId, int]:
        """The incarnations that are proposed (KIP-903)."""
        return {
            each: own_epoch if each == self.own else self._epoch_of(each)
            for each in sorted(members)
        }

    def _epoch_of(self, broker_id: BrokerId) -> int:
        epoch = self.followers[broker_id].broker_epoch
        return ANY_EPOCH if epoch is None else epoch
