"""The heartbeats of a broker that stops."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from harness.base.ids import BrokerId
from harness.codec.messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationResponse,
)
from harness.reference_broker.cluster.lifecycle import Lifecycle
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.state.registrations.brokers import Endpoint

INTERVAL_MS = 1
ENOUGH_S = 30.0


class Controller:
    """Hold the heartbeats until `release` is set; allow the shutdown if `allows`."""

    def __init__(self, *, allows: bool) -> None:
        self._allows = allows
        self.wishes: list[bool] = []
        self.open, self.most_open = 0, 0
        self.beats, self.release = asyncio.Event(), asyncio.Event()

    async def ask(
        self, request: object, _version: int
    ) -> BrokerHeartbeatResponse | BrokerRegistrationResponse:
        if not isinstance(request, BrokerHeartbeatRequest):
            return BrokerRegistrationResponse(broker_epoch=1)
        self.wishes.append(request.want_shut_down)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.beats.set()
        await self.release.wait()
        self.open -= 1
        if request.want_shut_down and not self._allows:
            raise PeerGone("away")
        return BrokerHeartbeatResponse(
            is_caught_up=True, is_fenced=False, should_shut_down=request.want_shut_down
        )


async def _stopped_during_a_heartbeat(controller: Controller) -> None:
    """Request the shutdown while a heartbeat waits for its answer; return after the last one."""
    member = NodeMembership(BrokerId(1), "c", Endpoint("c", 1), {}, [])
    lifecycle = Lifecycle(member, cast("Any", controller), INTERVAL_MS)
    beating = asyncio.create_task(lifecycle.run())
    await controller.beats.wait()
    stopping = asyncio.create_task(lifecycle.shut_down(ENOUGH_S))
    controller.release.set()  # tasks run in their order: the shutdown is requested before
    await stopping
    await asyncio.wait_for(beating, ENOUGH_S)


@pytest.mark.parametrize("allows", [True, False], ids=["allowed", "away"])
def test_stopping_broker_sends_one_heartbeat_at_a_time_and_none_after_the_last(
    allows: bool,
) -> None:
    """A heartbeat that was under way is answered first; the one with the wish is the last."""

    async def judge() -> None:
        controller = Controller(allows=allows)
        await _stopped_during_a_heartbeat(controller)
        assert controller.most_open == 1
        assert controller.wishes == [False, True]

    asyncio.run(judge())
