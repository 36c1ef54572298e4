"""APIV: a controller and a broker advertise each its own APIs (KRaft)."""

from __future__ import annotations

from harness.codec.apis import api_named
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster

OF_CONTROLLERS = (
    *("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "FetchSnapshot", "AlterPartition", "Envelope"),
    *("BrokerRegistration", "BrokerHeartbeat", "AllocateProducerIds"),
)
"""APIs that brokers and controllers use at a controller; no client does."""
OF_BROKERS = (
    *("Produce", "Metadata", "ListOffsets", "OffsetCommit", "OffsetFetch", "FindCoordinator"),
    *("JoinGroup", "Heartbeat", "LeaveGroup", "SyncGroup", "InitProducerId", "DeleteRecords"),
)
"""APIs that need partitions or groups, of which a controller has none."""


@judges("APIV-010")
@needs_broker(Use.JOINABLE)
def test_api_versions_separates_controller_and_broker_listener_apis(peers: JoinedCluster) -> None:
    """ApiVersions at the controller, and at the broker's listener for clients."""
    controller = peers.kraft_world.controller.advertised
    with requirement("APIV-010"):
        answer = peers.broker.ask(ApiVersionsRequest(), 0)
        client = {each.api_key for each in answer.api_keys}
        wrong = [name for name in OF_BROKERS if api_named(name).key in controller]
        assert not wrong, f"the controller's listener advertises {wrong}"
        wrong = [name for name in OF_CONTROLLERS if api_named(name).key in client]
        assert not wrong, f"the client's listener advertises {wrong}"
