"""Markers for partitions of another leader, which the test answers for."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from harness.base.ids import BrokerId, LeaderEpoch
from harness.codec.messages import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from harness.reference_broker.cluster.marker_sender import MarkerSender
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.effects import MarkersAwaited
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
    ids_of,
)
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    PLACE,
    begun,
    ended,
    known,
    made_state,
    partition_of,
)

_Answer = WriteTxnMarkersResponse
OTHER = 2
SOON_S = 10.0


class _Leader:
    """The other broker: it refuses the connection as often as wanted, then takes the markers."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.requests: list[WriteTxnMarkersRequest] = []
        self.has_taken = asyncio.Event()

    def to(self, broker_id: int) -> _Leader:
        assert broker_id == OTHER
        return self

    async def ask(self, request: WriteTxnMarkersRequest, version: int) -> WriteTxnMarkersResponse:
        """Answer that each partition has its marker."""
        assert version == 2
        self.requests.append(request)
        if len(self.requests) <= self.refusals:
            raise PeerGone("it is down")
        self.has_taken.set()
        return WriteTxnMarkersResponse(markers=[_taken(marker) for marker in request.markers])


def _taken(marker: WriteTxnMarkersRequest.WritableTxnMarker) -> _Answer.WritableTxnMarkerResult:
    topics = [
        _Answer.WritableTxnMarkerTopicResult(
            name=topic.name,
            partitions=[
                _Answer.WritableTxnMarkerPartitionResult(partition_index=index)
                for index in topic.partition_indexes
            ],
        )
        for topic in marker.topics
    ]
    return _Answer.WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)


def decided_with_other_leader() -> tuple[BrokerState, Partition]:
    """A decided transaction in a partition of another leader, and the coordinator's log."""
    state = made_state()
    own = state.cluster.host.own
    both = ids_of((own, OTHER))
    moved = PartitionRegistration(both, both, BrokerId(OTHER), LeaderEpoch(1), 1)
    partition_of(state).register(moved, NOW)
    ended(state.transactions, begun(state.transactions, version=2), 2, commits=True)
    state.settle_transactions(NOW)
    assert [one for one in state.take_effects() if isinstance(one, MarkersAwaited)]
    coordinator = state.transactions.log.partition_of(NAME)
    assert coordinator is not None
    return state, coordinator


def in_sync(coordinator: Partition, *brokers: int) -> None:
    """Give the coordinator's log this ISR."""
    assert coordinator.leading is not None
    coordinator.leading.isr = frozenset(BrokerId(each) for each in brokers)


def sender_to(leader: _Leader, state: BrokerState) -> MarkerSender:
    node = SimpleNamespace(state=state, carry_out=lambda _: state.settle_transactions(NOW))
    return MarkerSender(cast("Any", node), cast("Any", leader))


def test_a_marker_is_sent_until_the_leader_takes_it() -> None:
    state, _ = decided_with_other_leader()

    async def scenario() -> None:
        leader = _Leader(refusals=2)
        running = asyncio.create_task((sender := sender_to(leader, state)).run())
        sender.hurry()
        async with asyncio.timeout(SOON_S):
            await leader.has_taken.wait()
            while known(state.transactions).state is not TransactionState.COMPLETE_COMMIT:
                await asyncio.sleep(0)
        running.cancel()
        assert len(leader.requests) == 3

    asyncio.run(scenario())


def test_a_marker_that_waited_for_replicas_of_the_decision_is_sent_when_they_are_back() -> None:
    """No effect announces them: the sender itself has to look again."""
    state, coordinator = decided_with_other_leader()
    own = state.cluster.host.own

    async def scenario() -> None:
        leader = _Leader()
        in_sync(coordinator)
        running = asyncio.create_task((sender := sender_to(leader, state)).run())
        sender.hurry()  # it finds nothing that may be sent
        for _ in range(3):
            await asyncio.sleep(0)
        assert not leader.requests
        in_sync(coordinator, own)
        state.settle_transactions(NOW)
        assert not [one for one in state.take_effects() if isinstance(one, MarkersAwaited)]
        async with asyncio.timeout(SOON_S):
            await leader.has_taken.wait()
        running.cancel()
        (marker,) = leader.requests[-1].markers
        assert (marker.topics[0].name, *marker.topics[0].partition_indexes) == PLACE

    asyncio.run(scenario())
