"""A broker's fetches from a leader whose responses the test makes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.messages import FetchRequest, FetchResponse
from harness.reference_broker.cluster.replica_fetcher import FetchSettings, ReplicaFetcher
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.partition.following import position_of
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.quotas.replication_quota import FOLLOWER, ReplicationQuota
from tests.reference_broker.made_replicas import TOPIC_ID, copy, decided, replica, write

SETTINGS = FetchSettings(500, 1, 1 << 20, 1 << 20, 10)


class MadeLeader:
    """A leader with three committed records; the follower's log start moves during a fetch."""

    def __init__(self, follower: Partition) -> None:
        self.follower = follower

    async def ask(self, request: FetchRequest, version: int, more_ms: int = 0) -> FetchResponse:
        """Answer the first fetch with the high watermark alone, and no other."""
        del version, more_ms
        if request.session_epoch:
            await asyncio.Event().wait()
        self.follower.start_at(Offset(1))
        part = FetchResponse.PartitionData(partition_index=0, high_watermark=3, log_start_offset=1)
        topic = FetchResponse.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[part])
        return FetchResponse(session_id=7, responses=[topic])


def follower_of_three() -> Partition:
    """A follower with three records. It knows that two of them are committed."""
    leader, follower = (replica(own, decided(1)) for own in (1, 2))
    for value in ("a", "b", "c"):
        write(leader, value)
    copy(leader, follower)
    follower.high_watermark = Offset(2)
    return follower


def test_high_watermark_is_adopted_although_log_start_has_moved_meanwhile() -> None:
    follower = follower_of_three()
    taken = asyncio.Event()
    quota = ReplicationQuota(FOLLOWER, BrokerConfigLayers({}))
    state = SimpleNamespace(effects=[], follower_quota=quota)
    node = SimpleNamespace(state=state, carry_out=lambda _: taken.set())
    member = SimpleNamespace(broker_id=2, epoch=20)
    made: Any = MadeLeader(follower)
    fetcher = ReplicaFetcher(cast("Any", node), cast("Any", member), made, SETTINGS)
    fetcher.follow(follower)

    async def fetch_once() -> None:
        running = asyncio.create_task(fetcher.run())
        await taken.wait()
        running.cancel()

    asyncio.run(fetch_once())
    assert (follower.log.start_offset, follower.high_watermark) == (1, 3)


def test_response_fits_follower_at_same_end_and_epoch_alone() -> None:
    follower = follower_of_three()
    asked = position_of(follower)
    follower.start_at(Offset(1))
    assert asked.goes_on_at(position_of(follower))
    at_end = position_of(follower)
    assert not asked.goes_on_at(at_end._replace(offset=Offset(4)))
    assert not asked.goes_on_at(at_end._replace(current_leader_epoch=LeaderEpoch(1)))
    assert not asked.goes_on_at(at_end._replace(last_fetched_epoch=-1))
