"""TOPIC: nobody is there who could lead."""

from __future__ import annotations

from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest
from harness.conformance.checks import requirement
from harness.marks import joined_broker, judges
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.expect import expect_error


@judges("TOPIC-036")
@joined_broker()
def test_no_topic_is_made_on_fenced_brokers_alone(peers: JoinedCluster) -> None:
    """Both brokers of the assignment are fenced; when one is back the same request is taken."""
    members, broker = [peers.joined(), peers.joined()], peers.broker
    request = CreateTopicsRequest
    assigned = request.CreatableReplicaAssignment(broker_ids=[each.broker_id for each in members])
    name = broker.unique_topic()
    topic = request.CreatableTopic(
        name=name, num_partitions=-1, replication_factor=-1, assignments=[assigned]
    )
    wanted = request(topics=[topic], timeout_ms=10_000)
    for member in members:
        member.leave()
    with requirement("TOPIC-036"):
        refused = only(broker.ask(wanted).topics, "topic")
        expect_error(
            refused.error_code, ErrorCode.INVALID_REPLICA_ASSIGNMENT, "both brokers are fenced"
        )
        members[1].come_back()
        broker.delete_later(name)
        taken = only(broker.ask(wanted).topics, "topic")
        expect_error(taken.error_code, ErrorCode.NONE, "one of the brokers is back")
