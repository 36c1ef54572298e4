"""Leader side of one partition: the progress of followers, the ISR, the high watermark.

Nothing here waits, reads a clock or sends. Source: classes Partition and Replica; KIP-497 (the
leader proposes the ISR to the controller), KIP-841 and KIP-903 (brokers that may be in the ISR).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.base.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)

_UNKNOWN, _LONG_AGO = Offset(-1), TimeMs(0)
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
ANY_EPOCH = -1
"""The broker epoch of a follower that does not send one."""


@dataclass(frozen=True, slots=True)
class ReplicationRules:
    """Replication settings that are the same for all partitions of a broker.

    Attributes:
        lag_ms: time for which a follower may be behind and in sync (``replica.lag.time.max.ms``).
        holds_below_minimum: nothing is committed while the ISR has fewer than min.insync.replicas,
            of which no more count than there are replicas; since 3.7 (KAFKA-15583, KIP-966).
        selects_by_rack: consumers are sent to a follower in their rack (KIP-392).
        selects_in_sync: that follower must be in the ISR; since 3.3.2 (KAFKA-14372).
    """

    lag_ms: int = 30_000
    holds_below_minimum: bool = True
    selects_by_rack: bool = False
    selects_in_sync: bool = True


@dataclass(slots=True)
class FollowerProgress:
    """The progress of one follower as the leader knows it. Times are those of its fetches.

    `end_offset` is the follower's log end offset, known from its last fetch; `leader_end_seen` was
    the leader's at that fetch. `broker_epoch` is None until the follower has fetched.
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
        """Note a fetch from `offset`: the follower has everything below it.

        If that is the whole log, the follower is caught up now; if it is the log as it was at the
        follower's previous fetch, the follower was caught up at that time.
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
        """Begin a leader epoch: a follower in sync counts as caught up (``resetReplicaState``)."""
        self.caught_up_at = now if is_in_sync else TimeMs(0)
        if is_new_leader:
            self.end_offset = self.start_offset = self.leader_end_seen = _UNKNOWN
            self.fetched_at, self.broker_epoch = TimeMs(0), None
        else:
            self.leader_end_seen = leader_end
            self.fetched_at = self.caught_up_at

    def is_caught_up(self, leader_end: Offset, lag_ms: int, now: TimeMs) -> bool:
        """True if the follower has the whole log, or had it at most `lag_ms` ago."""
        return self.end_offset == leader_end or now - self.caught_up_at <= lag_ms


@dataclass(slots=True)
class Leading:
    """State of one leadership. `isr` is committed by the controller, `proposed` is requested.

    A broker to be added counts at once, a broker to be removed counts until the controller has
    agreed: that is the maximal ISR.
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
        """The replicas for which the high watermark waits."""
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
        """Apply a decision of the controller from the metadata; it replaces the proposal.

        A decision that was already in a response replaces nothing: a later proposal is still on its
        way. Kafka forgets that proposal, and for a moment commits without the follower that the
        controller adds (class Partition, makeLeader at the same partition epoch).
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
        """Apply the controller's response to a proposal."""
        self.isr, self.proposed, self.partition_epoch = isr, None, partition_epoch

    def high_watermark(
        self, end: Offset, minimum: int, rules: ReplicationRules, brokers: Brokers, now: TimeMs
    ) -> Offset | None:
        """Return the offset below which all replicas that count have the records.

        None while nothing may be committed. Besides the maximal ISR, a follower counts that has
        caught up and may join (KAFKA-7128).
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
        """True if a follower may be in the ISR, in the incarnation that has fetched."""
        registered = brokers.get(broker_id)
        fetched_as = self.followers[broker_id].broker_epoch
        if registered is None or fetched_as is None or not brokers.is_active(broker_id):
            return False
        return fetched_as in (ANY_EPOCH, registered.epoch)

    def expansion(
        self, broker_id: BrokerId, high_watermark: Offset, brokers: Brokers
    ) -> frozenset[BrokerId] | None:
        """Return the ISR with one more follower; None if that follower may not join now.

        The follower must have all committed records, and the log up to the start of this epoch.
        """
        if self.proposed is not None or broker_id in self.isr:
            return None
        end = self.followers[broker_id].end_offset
        if end < high_watermark or end < self.epoch_start or not self.may_join(broker_id, brokers):
            return None
        return self.isr | {broker_id}

    def shrinkage(self, end: Offset, lag_ms: int, now: TimeMs) -> frozenset[BrokerId] | None:
        """Return the ISR without followers that are behind for too long.

        None if there are none, or if a proposal is pending.
        """
        if self.proposed is not None:
            return None
        behind = {
            broker_id
            for broker_id, follower in self.followers.items()
            if broker_id in self.isr and not follower.is_caught_up(end, lag_ms, now)
        }
        return self.isr - behind if behind else None

    def broker_epochs_of(self, members: Iterable[BrokerId], own_epoch: int) -> dict[BrokerId, int]:
        """Return the broker epochs for a proposal (KIP-903)."""
        return {
            each: own_epoch if each == self.own else self._epoch_of(each)
            for each in sorted(members)
        }

    def _epoch_of(self, broker_id: BrokerId) -> int:
        epoch = self.followers[broker_id].broker_epoch
        return ANY_EPOCH if epoch is None else epoch
