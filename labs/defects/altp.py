"""Defects of area ALTP: a controller that takes, or refuses, the wrong ISRs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import Defect
from labs.defects.edited_request import with_body
from labs.defects.replicas import Replicas, taken_for, told_to_others

RECOVERING = 1
WHOLE = 3
"""Count of the replicas that the partitions of most tests have."""


@dataclass(frozen=True, slots=True)
class WrongProposal:
    """A proposal for the newest topic, and its answer, for a defect to edit."""

    done: Replicas
    asked: AlterPartitionRequest
    told: AlterPartitionResponse.PartitionData

    @property
    def data(self) -> AlterPartitionRequest.PartitionData:
        return self.asked.topics[0].partitions[0]

    @property
    def isr(self) -> list[int]:
        """The members of the proposed ISR, at every version."""
        return [*self.data.new_isr, *(one.broker_id for one in self.data.new_isr_with_epochs)]

    @property
    def knows_no_epochs(self) -> bool:
        """True if the proposal contains no broker epoch of a member."""
        return all(one.broker_epoch == -1 for one in self.data.new_isr_with_epochs)

    @property
    def by_the_first(self) -> bool:
        """True if the first replica proposes; it leads from the beginning."""
        return self.asked.broker_id == self.done.replicas[0]

    def turn(self, code: ErrorCode, into: ErrorCode) -> None:
        """Replace the error of the answer if it is ``code``."""
        if self.told.error_code == code:
            self.told.error_code = into


def proposals(requirement: str, reason: str) -> Callable[[Callable[[WrongProposal], None]], Defect]:
    """Make a defect that edits the answer to a proposal."""

    def make(edit: Callable[[WrongProposal], None]) -> Defect:
        def answer(done: Replicas, asked: Message, answer: Message) -> None:
            if isinstance(asked, AlterPartitionRequest):
                assert isinstance(answer, AlterPartitionResponse)
                if answer.topics:
                    edit(WrongProposal(done, asked, answer.topics[0].partitions[0]))

        answer.__name__, answer.__doc__ = edit.__name__, edit.__doc__
        return told_to_others(requirement, reason)(answer)

    return make


@proposals("ALTP-001", r"an expansion answers the leader epoch 1, expected 0")
def an_expansion_begins_a_leader_epoch(seen: WrongProposal) -> None:
    """The controller raises the leader epoch when it commits the whole ISR."""
    committed = seen.told.error_code == ErrorCode.NONE and seen.data.partition_epoch == 1
    if committed and len(seen.isr) == WHOLE and not seen.knows_no_epochs:
        seen.told.leader_epoch += 1


@proposals("ALTP-002", r"a lower partition epoch, an ISR without the leader: .*INVALID_REQUEST")
def members_are_checked_before_the_partition_epoch(seen: WrongProposal) -> None:
    """The controller checks the members of the ISR before the partition epoch."""
    if seen.isr and seen.asked.broker_id not in seen.isr:
        seen.turn(ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.INVALID_REQUEST)


@proposals("ALTP-002", r"a lower partition epoch.*: error is NONE")
def an_old_partition_epoch_passes(seen: WrongProposal) -> None:
    """The controller accepts the whole ISR with any partition epoch."""
    if len(seen.isr) == WHOLE:
        seen.turn(ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.NONE)


@proposals("ALTP-003", r"a higher leader epoch: error is FENCED_LEADER_EPOCH")
def an_epoch_to_come_is_an_old_one(seen: WrongProposal) -> None:
    """The controller answers FENCED_LEADER_EPOCH to every leader epoch that differs."""
    seen.turn(ErrorCode.NOT_CONTROLLER, ErrorCode.FENCED_LEADER_EPOCH)


@proposals("ALTP-004", r"proposed by a (follower|stranger): error is NONE")
def a_follower_may_propose(seen: WrongProposal) -> None:
    """The controller accepts a proposal of a follower that is in the ISR."""
    if len(seen.done.replicas) == WHOLE and not seen.by_the_first:
        seen.turn(ErrorCode.INVALID_REQUEST, ErrorCode.NONE)


@proposals("ALTP-005", r"an ISR without the leader: error is NONE")
def a_leader_may_leave_itself_out(seen: WrongProposal) -> None:
    """The controller accepts an ISR without the leader if all members are replicas."""
    if seen.by_the_first and seen.isr and seen.asked.broker_id not in seen.isr:
        seen.turn(ErrorCode.INVALID_REQUEST, ErrorCode.NONE)


@proposals("ALTP-006", r"with an? .*replica.*: error is OPERATION_NOT_ATTEMPTED")
def ineligible_is_not_attempted(seen: WrongProposal) -> None:
    """The controller answers OPERATION_NOT_ATTEMPTED, as before INELIGIBLE_REPLICA existed."""
    seen.turn(ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)


@proposals("ALTP-007", r"broker epochs of -1: error is INELIGIBLE_REPLICA")
def every_member_must_have_an_epoch(seen: WrongProposal) -> None:
    """The controller compares a broker epoch of -1 like any other."""
    if seen.data.new_isr_with_epochs and seen.knows_no_epochs:
        seen.turn(ErrorCode.NONE, ErrorCode.INELIGIBLE_REPLICA)


@proposals("ALTP-007", r"a fenced member, broker epoch -1 of all members: error is NONE")
def without_epochs_all_are_eligible(seen: WrongProposal) -> None:
    """The controller does not look at members without a broker epoch at all."""
    if seen.data.new_isr_with_epochs and seen.knows_no_epochs:
        seen.turn(ErrorCode.INELIGIBLE_REPLICA, ErrorCode.NONE)


@proposals("ALTP-008", r"two members while recovering: error is NONE")
def a_recovering_leader_is_believed(seen: WrongProposal) -> None:
    """The controller lets the ISR grow while the leader recovers."""
    if seen.data.leader_recovery_state == RECOVERING and len(seen.isr) > 1:
        seen.turn(ErrorCode.INVALID_REQUEST, ErrorCode.NONE)


@proposals("ALTP-009", r"an unknown topic: error is UNKNOWN_TOPIC_OR_PARTITION")
def a_proposal_by_id_is_answered_by_name(seen: WrongProposal) -> None:
    """The controller answers an unknown topic id with the error of the versions with names."""
    seen.turn(ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@told_to_others("ALTP-010", r"broker epoch [-+]1, the whole answer: error is NONE")
def an_old_broker_is_answered_nothing(_: Replicas, asked: Message, answer: Message) -> None:
    """The controller answers a wrong broker epoch without an error, and does nothing."""
    if isinstance(answer, AlterPartitionResponse) and not answer.topics:
        answer.error_code = ErrorCode.NONE


@told_to_others("ALTP-010", r"broker epoch \+1, the whole answer: error is NONE")
def an_epoch_to_come_is_answered_nothing(done: Replicas, asked: Message, answer: Message) -> None:
    """The controller refuses only a broker epoch that is lower than the one that it knows."""
    if isinstance(asked, AlterPartitionRequest) and isinstance(answer, AlterPartitionResponse):
        first = done.epochs.setdefault(asked.broker_id, asked.broker_epoch)
        if not answer.topics and asked.broker_epoch > first:
            answer.error_code = ErrorCode.NONE


@proposals("ALTP-011", r"the ISR has all that are to be replicas: error is NONE")
def a_leader_is_not_told_that_it_is_none(seen: WrongProposal) -> None:
    """The controller answers NONE to the proposal that completes a reassignment."""
    seen.turn(ErrorCode.NEW_LEADER_ELECTED, ErrorCode.NONE)


@taken_for("ALTP-012", r"Metadata shows the ISR \[")
def the_isr_of_the_second_is_committed(done: Replicas, seen: SeenRequest) -> bytes | None:
    """The controller answers the first of two proposals and commits the ISR of the second."""
    asked = seen.message
    if not isinstance(asked, AlterPartitionRequest) or len(done.replicas) != WHOLE:
        return seen.payload
    (data,) = asked.topics[0].partitions
    second, last = done.replicas[1:]
    members = [one.broker_id for one in data.new_isr_with_epochs]
    if data.partition_epoch != 1 or members != sorted([done.replicas[0], second]):
        return seen.payload
    for one in data.new_isr_with_epochs:
        if one.broker_id == second:
            one.broker_id, one.broker_epoch = last, -1
    return with_body(seen, asked)


@proposals("ALTP-012", r"the answers are NONE \(0\), NONE \(0\)")
def the_second_hears_that_it_has_won_too(seen: WrongProposal) -> None:
    """The controller answers a change that came too late as if it had applied it."""
    if len(seen.isr) < WHOLE and seen.by_the_first:
        seen.turn(ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.NONE)


@proposals("ALTP-014", r"the recovery state is 0, expected 1")
def a_leader_that_returns_has_recovered(seen: WrongProposal) -> None:
    """The controller answers a leader of three replicas that recovers with RECOVERED."""
    if len(seen.done.replicas) == WHOLE and seen.told.error_code == ErrorCode.NONE:
        seen.told.leader_recovery_state = 0


@proposals("ALTP-015", r"\(leader, partition\) epoch is \(0, 1\), expected \(0, 0\)")
def every_proposal_is_a_change(seen: WrongProposal) -> None:
    """The controller begins a partition epoch with a proposal of the whole ISR as it is."""
    is_present = seen.told.partition_epoch == seen.data.partition_epoch
    if is_present and len(seen.isr) == WHOLE and seen.told.error_code == ErrorCode.NONE:
        seen.told.partition_epoch += 1


DEFECTS = [
    an_expansion_begins_a_leader_epoch,
    members_are_checked_before_the_partition_epoch,
    an_old_partition_epoch_passes,
    an_epoch_to_come_is_an_old_one,
    a_follower_may_propose,
    a_leader_may_leave_itself_out,
    ineligible_is_not_attempted,
    every_member_must_have_an_epoch,
    without_epochs_all_are_eligible,
    a_recovering_leader_is_believed,
    a_proposal_by_id_is_answered_by_name,
    an_old_broker_is_answered_nothing,
    an_epoch_to_come_is_answered_nothing,
    a_leader_is_not_told_that_it_is_none,
    the_second_hears_that_it_has_won_too,
    the_isr_of_the_second_is_committed,
    a_leader_that_returns_has_recovered,
    every_proposal_is_a_change,
]
