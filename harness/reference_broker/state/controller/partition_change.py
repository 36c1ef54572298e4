"""One change of a partition, computed as a record: replicas, eligible leaders, election, ISR.

The leader is found by the rules of `leader_election.py`; the table of `leadership_states.py` gives
the recovery state that follows. Source: class PartitionChangeBuilder; KIP-455, KIP-704, KIP-966.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import BrokerId
from harness.codec.messages import PartitionChangeRecord
from harness.reference_broker.state.controller.leader_election import (
    Elected,
    Election,
    Electorate,
    elect,
)
from harness.reference_broker.state.controller.leadership_states import (
    LeadershipEvent,
    leadership_of,
    next_state,
)
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERED,
    RECOVERING,
    Ids,
    PartitionRegistration,
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The conditions under which a partition changes.

    `is_acceptable`: True if a broker may lead now. `minimum`: the size of the ISR that is enough,
    never more than the number of replicas. `keeps_eligible`: KIP-966. `shrinks_in_new_epoch`: up to
    3.5 (KAFKA-15021). `awaits_present`: a reassignment waits for replicas that it keeps, too, up to
    4.2 (KAFKA-19975).
    """

    is_acceptable: Callable[[BrokerId], bool]
    minimum: int
    keeps_eligible: bool = True
    shrinks_in_new_epoch: bool = False
    awaits_present: bool = False


@dataclass(frozen=True, slots=True)
class TargetReplicas:
    """The wanted state of a partition; None leaves a part unchanged.

    `has_recovered`: the leader reports that it has recovered after an unclean election.
    """

    isr: Ids | None = None
    replicas: Ids | None = None
    removing: Ids | None = None
    adding: Ids | None = None
    has_recovered: bool = False
    directory: tuple[BrokerId, UUID] | None = None
    shut_down_unclean: frozenset[BrokerId] = frozenset()


def change_of(
    at: tuple[UUID, int],
    registered: PartitionRegistration,
    target: TargetReplicas,
    around: Circumstances,
    election: Election = Election.ONLINE,
    directory_of: Callable[[BrokerId], UUID] = lambda _: UUID(int=0),
) -> PartitionChangeRecord | None:
    """Return the record for the partition at topic id and index; None when nothing changes."""
    change = _Change(registered, target, around, election)
    record = PartitionChangeRecord(topic_id=at[0], partition_id=at[1])
    change.complete_reassignment()
    change.populate_eligible()
    change.elect(record)
    change.write_isr(record)
    change.write_assignment(record, directory_of)
    return record if record != PartitionChangeRecord(topic_id=at[0], partition_id=at[1]) else None


class _Change:
    """The target while its parts are computed."""

    def __init__(
        self,
        registered: PartitionRegistration,
        target: TargetReplicas,
        around: Circumstances,
        election: Election,
    ) -> None:
        def given(wanted: Ids | None, present: Ids) -> Ids:
            return present if wanted is None else wanted

        self.registered, self.around, self.election = registered, around, election
        self.shut_down_unclean = target.shut_down_unclean
        self.moved = {} if target.directory is None else dict([target.directory])
        self.isr = given(target.isr, registered.isr)
        self.replicas = given(target.replicas, registered.replicas)
        self.removing = given(target.removing, registered.removing)
        self.adding = given(target.adding, registered.adding)
        self.elr = registered.elr
        self.has_recovered = target.has_recovered
        self.leadership = leadership_of(registered)

    def complete_reassignment(self) -> None:
        """Complete a reassignment once the added replicas are in sync (class
        PartitionReassignmentReplicas).

        If replicas become fewer, all that remain have to be in sync, so that the ISR does not
        become smaller with them.
        """
        if not self.removing and not self.adding:
            return
        isr = tuple(each for each in self.isr if each not in self.removing)
        replicas = tuple(each for each in self.replicas if each not in self.removing)
        is_fewer = len(replicas) < len(without(self.replicas, *self.adding))
        # A second reassignment may remove a replica that the first one still adds.
        added = without(self.adding, *self.removing)
        awaited = replicas if is_fewer or self.around.awaits_present else added
        if isr and replicas and set(awaited) <= set(isr):
            self.isr, self.replicas = isr, replicas
            self.removing = self.adding = ()

    def populate_eligible(self) -> None:
        """Compute the ELR: replicas that leave an ISR below its minimum size stay eligible.

        A broker that is no longer a replica is left out. Kafka keeps it (maybePopulateTargetElr),
        and would elect it once it is a replica again, without the records written in between.
        """
        if not self.around.keeps_eligible or len(self.isr) >= self.around.minimum:
            self.elr = ()
        else:
            before = dict.fromkeys((*self.elr, *self.registered.isr))
            self.elr = tuple(
                each
                for each in sorted(before)
                if each not in self.isr
                and each in self.replicas
                and each not in self.shut_down_unclean
            )

    def elect(self, record: PartitionChangeRecord) -> None:
        """Elect the leader; after an unclean election it is the only one in sync."""
        elected = elect(self._electorate(), self.election)
        if elected.leader == self.registered.leader:
            self._bump_for_replicas(record)
            return
        self.leadership = next_state(self.leadership, _event_of(elected))
        record.leader = elected.leader
        if elected.leader in self.elr:
            self.isr = (elected.leader,)
            self.elr = tuple(each for each in self.elr if each != elected.leader)
        if elected.is_unclean:
            record.isr = [elected.leader]
            self.elr = ()
        self._bump_for_replicas(record)

    def _electorate(self) -> Electorate:
        return Electorate(
            self.registered.leader,
            self.replicas,
            self.isr,
            self.elr,
            self.registered.last_known_elr if self.around.keeps_eligible else (),
            self.around.is_acceptable,
        )

    def _bump_for_replicas(self, record: PartitionChangeRecord) -> None:
        """Begin a new leader epoch if a replica is removed: the epoch fences it."""
        goes = not set(self.registered.replicas) <= set(self.replicas)
        if goes and record.leader == NO_LEADER_CHANGE:
            record.leader = self.registered.leader

    def write_isr(self, record: PartitionChangeRecord) -> None:
        """Write the ISR, the ELR, the last known leader and the recovery state."""
        registered, keeps = self.registered, self.around.keeps_eligible
        if record.isr is not None:
            self.elr = ()
        if self.elr != registered.elr:
            record.eligible_leader_replicas = [*self.elr]
        if record.isr is None and (self.isr or keeps) and self.isr != registered.isr:
            record.isr = [*self.isr]
        if record.isr is not None and record.leader == NO_LEADER_CHANGE:
            shrinks = not set(registered.isr) <= set(record.isr)
            if shrinks and self.around.shrinks_in_new_epoch:
                record.leader = registered.leader
        if keeps:
            self._write_last_known(record)
        self._write_recovery(record)

    def _write_recovery(self, record: PartitionChangeRecord) -> None:
        if self.has_recovered:
            self.leadership = next_state(self.leadership, LeadershipEvent.RECOVERED)
        if self.leadership.is_recovering != self.registered.is_recovering:
            is_recovering = self.leadership.is_recovering
            record.leader_recovery_state = RECOVERING if is_recovering else RECOVERED

    def _write_last_known(self, record: PartitionChangeRecord) -> None:
        registered = self.registered
        if record.isr == [] and registered.last_known_elr != (registered.leader,):
            record.last_known_elr = [registered.leader]
            return
        leads_on = NO_LEADER not in (registered.leader, record.leader)
        if (record.leader >= 0 or leads_on) and registered.last_known_elr:
            record.last_known_elr = []

    def write_assignment(
        self, record: PartitionChangeRecord, directory_of: Callable[[BrokerId], UUID]
    ) -> None:
        """Write the replicas with their directories, and those being added and removed."""
        registered = self.registered
        known = dict(zip(registered.replicas, registered.directories, strict=False))
        known |= self.moved
        directories = [known.get(each) or directory_of(each) for each in self.replicas]
        is_told = bool(registered.directories or self.moved)
        if is_told and directories != [*registered.directories]:
            record.directories = directories
        if self.replicas != registered.replicas:
            record.replicas = [*self.replicas]
        if self.removing != registered.removing:
            record.removing_replicas = [*self.removing]
        if self.adding != registered.adding:
            record.adding_replicas = [*self.adding]


def _event_of(elected: Elected) -> LeadershipEvent:
    """Return the event that an election is when it changes the leader."""
    if elected.leader == NO_LEADER:
        return LeadershipEvent.LEADER_LOST
    if elected.is_unclean:
        return LeadershipEvent.UNCLEANLY_ELECTED
    return LeadershipEvent.CLEANLY_ELECTED


def without(ids: Sequence[BrokerId], *gone: BrokerId) -> Ids:
    """Return the ids except these."""
    return tuple(each for each in ids if each not in gone)
