"""A broker gets producer ids from the controller, a block at a time, before it has none left.

Source: class RPCProducerIdManager; KIP-730.
"""

from __future__ import annotations

import asyncio
import logging

from harness.codec.error_code import ErrorCode
from harness.codec.messages import AllocateProducerIdsRequest
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.state.producers.producer_ids import ProducerIds

_LOG = logging.getLogger(__name__)
_RETRY_S = 0.1


class ProducerIdBlocks:
    """Asks for the next block when little of the present one is left."""

    def __init__(self, ids: ProducerIds, member: NodeMembership, controller: Peer) -> None:
        self._ids, self._member, self._controller = ids, member, controller
        self._are_low = asyncio.Event()
        ids.on_low = self._are_low.set

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if not self._ids.is_low:
                self._are_low.clear()
                await self._are_low.wait()
            request = AllocateProducerIdsRequest(
                broker_id=self._member.broker_id, broker_epoch=self._member.epoch
            )
            try:
                answer = await self._controller.ask(request, 0)
            except PeerGone as gone:
                _LOG.info("no producer ids: %s", gone)
                await asyncio.sleep(_RETRY_S)
                continue
            if answer.error_code == ErrorCode.NONE:
                self._ids.add_block(answer.producer_id_start, answer.producer_id_len)
            else:
                await asyncio.sleep(_RETRY_S)
