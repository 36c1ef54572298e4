"""A broker ends if it cannot report a failed directory to the controller in time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.ids import BrokerId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationResponse,
)
from harness.reference_broker.cluster.directory_failures import DirectoryFailures
from harness.reference_broker.cluster.lifecycle import Lifecycle
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import PeerGone
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.storage.log_directories import LogDirectories
from tests.reference_broker.storage.test_log_directories import in_two, put_a_file_in_place_of

TIMEOUT_MS = 50


class Controller:
    """Accept registrations; answer every heartbeat alike, or none."""

    def __init__(self, error: ErrorCode | None) -> None:
        self._error = error

    async def ask(
        self, request: object, _version: int
    ) -> BrokerHeartbeatResponse | BrokerRegistrationResponse:
        await asyncio.sleep(0)
        if not isinstance(request, BrokerHeartbeatRequest):
            return BrokerRegistrationResponse(broker_epoch=1)
        if self._error is None:
            raise PeerGone("away")
        return BrokerHeartbeatResponse(error_code=self._error)


async def _one_fails(logs: LogDirectories, folder: Path, controller: Controller) -> None:
    """Fail a folder, report it in one heartbeat, and wait until the time is over."""
    member = NodeMembership(BrokerId(1), "c", Endpoint("c", 1), {}, [])
    failures = DirectoryFailures(logs, TIMEOUT_MS)
    member.failed, member.told, logs.on_failed = logs.failed_ids, failures.told, failures.noticed
    put_a_file_in_place_of(folder)
    logs.checkpoint()
    assert len(logs.failed_ids()) == 1
    lifecycle = Lifecycle(member, cast("Any", controller), 1000)
    beating = asyncio.create_task(lifecycle.run())
    await asyncio.sleep(2 * TIMEOUT_MS / 1000)  # what must not happen cannot be awaited
    beating.cancel()
    await asyncio.gather(beating, return_exceptions=True)


@pytest.mark.parametrize(
    ("answer", "ends"),
    [(ErrorCode.NONE, False), (ErrorCode.STALE_BROKER_EPOCH, True), (None, True)],
    ids=["told", "refused", "away"],
)
def test_broker_ends_if_failed_directory_is_not_reported_in_time(
    tmp_path: Path, answer: ErrorCode | None, ends: bool
) -> None:
    files = in_two(tmp_path)
    asyncio.run(_one_fails(files.logs, tmp_path / "second", Controller(answer)))
    assert (files.logs.lost is not None) == ends
    if ends:
        assert "within 50 ms (log.dir.failure.timeout.ms)" in str(files.logs.lost)
    files.close(broker_epoch=None)
