"""A coordinator sends markers to the leaders of partitions on other brokers.

One request is on its way to each broker. What a leader refuses for now, or does not answer, is sent
again, to the leader of that time. What may not be sent, because too few replicas are in sync with
the decision, is looked at again, too: no effect announces that they are back. Source: classes
TransactionMarkerChannelManager and TransactionMarkerRequestCompletionHandler.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

from harness.base.ids import BrokerId, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from harness.reference_broker.cluster.broker_peers import BrokerPeers
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.node import Node
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER
from harness.reference_broker.state.transactions.marker_rounds import MarkerRound
from harness.reference_broker.state.transactions.marker_writing import (
    OF_A_LATER_COORDINATOR,
    marker_of_round,
)
from harness.reference_broker.state.transactions.transaction import Place, indexes_by_topic

_LOG = logging.getLogger(__name__)
_API_KEY, _NEWEST = 27, 2
_RETRY_S = 0.1
_Due = list[tuple[MarkerRound, list[Place]]]
_Marker = WriteTxnMarkersRequest.WritableTxnMarker


class MarkerSender:
    """Sends the markers that `settle` could not write here."""

    def __init__(self, node: Node, peers: BrokerPeers) -> None:
        self._node, self._peers = node, peers
        span = node.state.like.between_nodes.advertised(_API_KEY, 0, _NEWEST)
        self._version = _NEWEST if span is None else span[1]
        self._are_due = asyncio.Event()
        self._busy: set[BrokerId] = set()

    def hurry(self) -> None:
        """Look for markers to send."""
        self._are_due.set()

    async def run(self) -> None:
        """Send markers until cancelled."""
        async with asyncio.TaskGroup() as sending:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_RETRY_S if self._are_left() else None):
                        await self._are_due.wait()
                self._are_due.clear()
                for broker_id, rounds in self._due().items():
                    if broker_id != NO_LEADER and broker_id not in self._busy:
                        self._busy.add(broker_id)
                        sending.create_task(self._send(broker_id, rounds))

    def _are_left(self) -> bool:
        """True if partitions of other leaders lack markers, also if none may be sent now."""
        rounds = self._node.state.transactions.rounds.all()
        return any(each.left & each.announced for each in rounds)

    def _due(self) -> Mapping[BrokerId, _Due]:
        """Return the markers by the broker that leads their partitions."""
        state, due = self._node.state, dict[BrokerId, _Due]()
        for each in state.transactions.rounds.all():
            places: dict[BrokerId, list[Place]] = {}
            for place in sorted(each.left) if each.is_certain else ():
                partition = state.marker_writer.partition_at(place)
                if partition is not None and partition.leading is None:
                    places.setdefault(partition.registration.leader, []).append(place)
            for broker_id, of_broker in places.items():
                due.setdefault(broker_id, []).append((each, of_broker))
        return due

    async def _send(self, broker_id: BrokerId, rounds: _Due) -> None:
        markers = [_marker(each, places) for each, places in rounds]
        request = WriteTxnMarkersRequest(markers=markers)
        try:
            answer = await self._peers.to(broker_id).ask(request, self._version)
        except PeerGone as gone:
            _LOG.info("broker %d did not answer to markers: %s", broker_id, gone)
        else:
            _settle(rounds, answer)
            self._node.carry_out([])
        finally:
            self._busy.discard(broker_id)


def _marker(one: MarkerRound, places: Sequence[Place]) -> _Marker:
    marker = marker_of_round(one)
    return _Marker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transaction_result=not marker.aborts,
        topics=[
            WriteTxnMarkersRequest.WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
            for topic, indexes in indexes_by_topic(places).items()
        ],
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.version,
    )


def _settle(rounds: _Due, answer: WriteTxnMarkersResponse) -> None:
    """Take the partitions that have their markers out of their rounds."""
    errors = {
        (result.producer_id, topic.name, PartitionIndex(one.partition_index)): one.error_code
        for result in answer.markers
        for topic in result.topics
        for one in topic.partitions
    }
    for each, places in rounds:
        for topic_name, index in places:
            error = errors.get((each.of.producer_id, topic_name, index))
            if error == ErrorCode.NONE:
                each.left.discard((topic_name, index))
            each.is_given_up |= error in OF_A_LATER_COORDINATOR
