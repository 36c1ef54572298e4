"""A leader asks the coordinator of a transaction for its partitions, before it takes records.

Source: class AddPartitionsToTxnManager; KIP-890.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from harness.reference_broker.cluster.background import begun
from harness.reference_broker.cluster.broker_peers import BrokerPeers
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.effects import CheckMade, TransactionCheck
from harness.reference_broker.node import Node
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER
from harness.reference_broker.state.transactions.transaction import Place, indexes_by_topic

_LOG = logging.getLogger(__name__)
_VERSION = 5
_Transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction


class TransactionChecks:
    """Sends each check once; without an answer the client has to repeat its request."""

    def __init__(self, node: Node, peers: BrokerPeers) -> None:
        self._node, self._peers = node, peers
        self._asking: set[asyncio.Task[None]] = set()

    def ask(self, check: TransactionCheck) -> None:
        """Send a check to the coordinator; the node carries out the effect of the answer."""
        task = begun(self._ask(check))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, check: TransactionCheck) -> None:
        check.outcome = await self._outcome(check)
        self._node.carry_out([CheckMade(check)])

    async def _outcome(self, check: TransactionCheck) -> Mapping[Place, ErrorCode]:
        partition = self._node.state.transactions.log.partition_of(check.transactional_id)
        if partition is None or partition.registration.leader == NO_LEADER:
            return {}
        if partition.leading is not None:
            return {}  # this broker is the coordinator by now
        peer = self._peers.to(partition.registration.leader)
        try:
            return _errors(await peer.ask(_request(check), _VERSION))
        except PeerGone as gone:
            _LOG.info("the coordinator of a transaction did not answer: %s", gone)
            return {}

    async def close(self) -> None:
        """Give up what is on its way."""
        asking = list(self._asking)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def _request(check: TransactionCheck) -> AddPartitionsToTxnRequest:
    only = _Transaction(
        transactional_id=check.transactional_id,
        producer_id=check.producer_id,
        producer_epoch=check.producer_epoch,
        verify_only=not check.adds,
        topics=[
            AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=topic, partitions=indexes)
            for topic, indexes in indexes_by_topic(check.places).items()
        ],
    )
    return AddPartitionsToTxnRequest(transactions=[only])


def _errors(answer: AddPartitionsToTxnResponse) -> Mapping[Place, ErrorCode]:
    return {
        (topic.name, PartitionIndex(one.partition_index)): ErrorCode(one.partition_error_code)
        for result in answer.results_by_transaction
        for topic in result.topic_results
        for one in topic.results_by_partition
    }
