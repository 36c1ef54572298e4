"""A virtual broker that leads a partition, towards the controller: it proposes ISRs.

AlterPartition (AlterIsr up to 3.1): KIP-497, KIP-841, KIP-903; the controller's side is
``ReplicationControlManager.alterPartition``. No record is ever written: the checks judge metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.virtual_broker.kraft import Controller, KraftMember
from harness.virtual_broker.membership import PartitionState, VirtualWorld

FIRST_WITH_IDS, FIRST_WITH_EPOCHS = 2, 3
RECOVERED, RECOVERING = 0, 1
NO_EPOCHS: Mapping[int, int] = MappingProxyType({})
Answered = AlterPartitionResponse.PartitionData


@dataclass(slots=True)
class LedPartition:
    """Partition 0 of a topic that one of ``replicas`` leads, as this leader knows it.

    The epochs are the last ones that the controller returned.
    """

    world: VirtualWorld
    controller: Controller
    topic: Topic
    leader: KraftMember
    replicas: tuple[KraftMember, ...]
    leader_epoch: int
    partition_epoch: int = 0

    @property
    def version(self) -> int:
        """The version of AlterPartition."""
        return self.controller.version("AlterPartition")

    def proposal(
        self,
        isr: Sequence[int],
        *,
        leader_epoch: int | None = None,
        partition_epoch: int | None = None,
        recovery: int = RECOVERED,
        sender: KraftMember | None = None,
        broker_epochs: Mapping[int, int] = NO_EPOCHS,
    ) -> AlterPartitionRequest:
        """Return the leader's request for this ISR, except for the given arguments.

        ``broker_epochs``: instead of those of the members' registrations.
        """
        sender = sender or self.leader
        data = AlterPartitionRequest.PartitionData(
            leader_epoch=self.leader_epoch if leader_epoch is None else leader_epoch,
            partition_epoch=self.partition_epoch if partition_epoch is None else partition_epoch,
        )
        if self.version >= 1:
            data.leader_recovery_state = recovery
        if self.version >= FIRST_WITH_EPOCHS:
            known = {one.broker_id: one.broker_epoch for one in self.replicas} | dict(broker_epochs)
            data.new_isr_with_epochs = [
                AlterPartitionRequest.BrokerState(broker_id=one, broker_epoch=known.get(one, -1))
                for one in isr
            ]
        else:
            data.new_isr = list(isr)
        topic = AlterPartitionRequest.TopicData(partitions=[data])
        self.name_topic(topic, self.topic.name, self.topic.id)
        return AlterPartitionRequest(
            broker_id=sender.broker_id, broker_epoch=sender.broker_epoch, topics=[topic]
        )

    def name_topic(self, entry: AlterPartitionRequest.TopicData, name: str, topic_id: UUID) -> None:
        """Name the topic in the request, by name or id as its version requires."""
        if self.version >= FIRST_WITH_IDS:
            entry.topic_id = topic_id
        else:
            entry.topic_name = name

    def propose(self, request: AlterPartitionRequest) -> Answered:
        """Send a proposal; return the partition's result, which updates the epochs on success.

        Raises PreparationFailed: the request is refused as a whole.
        """
        answer = self.controller.ask(request)
        if answer.error_code != ErrorCode.NONE:
            told = ErrorCode.describe(answer.error_code)
            raise PreparationFailed(f"AlterPartition is refused: {told}", answer.error_code)
        found = partition_of(answer)
        if found.error_code == ErrorCode.NONE:
            self.leader_epoch, self.partition_epoch = found.leader_epoch, found.partition_epoch
        return found

    def lose_leader(self) -> None:
        """Fence the leader, and go on with the newly elected one. Raises BrokerMisbehaved."""
        old = self.leader
        old.leave()
        state = self.controller.broker.eventually(
            lambda: found if (found := self.state()).leader not in (-1, old.broker_id) else None,
            f"{self.topic.name} has another leader than {old.broker_id}",
        )
        self.leader = next(one for one in self.replicas if one.broker_id == state.leader)
        self.leader_epoch, self.partition_epoch = state.leader_epoch, self.partition_epoch + 1

    def state(self) -> PartitionState:
        """Return the partition's state in the cluster."""
        return self.world.state(self.topic.name, 0)


def partition_of(answer: AlterPartitionResponse) -> Answered:
    """Return the only partition of a response."""
    return only(only(answer.topics, "topic").partitions, "partition")
