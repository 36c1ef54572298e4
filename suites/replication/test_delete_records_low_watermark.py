"""DELR: a deletion of records waits for the replicas; the test chooses their log starts."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.support.deleting import deleted, deletion
from suites.replication.support.elections import await_alive
from suites.replication.support.expect import expect_error

SHORT_MS, LONG_MS = 500, 60_000


@judges("DELR-006")
@needs_broker(Use.JOINABLE)
def test_delete_records_waits_for_log_start_of_all_replicas(peers: JoinedCluster) -> None:
    """A follower that keeps the records keeps the call waiting; it is over when it has followed.

    Another follower keeps them too. It is not alive, and nothing waits for it.
    """
    follower, dead = peers.join(), peers.join()
    partition = peers.partition([follower, dead])
    partition.produce(3)
    partition.follow(dead, 3)
    partition.follow(follower, 3)
    dead.leave()
    partition.await_isr(peers.leader, follower.broker_id)
    broker = partition.broker
    version = broker.version("DeleteRecords")
    with requirement("DELR-006"):
        late = deleted(broker.ask(deletion(partition, 2, SHORT_MS), version))
        expect_error(late.error_code, ErrorCode.REQUEST_TIMED_OUT, "a replica begins at 0")
        connection = broker.connect("deletion")
        connection.send(deletion(partition, 2, LONG_MS), version)
        partition.follow(follower, 3, log_start=2)
        answer = connection.receive()
        assert isinstance(answer, DeleteRecordsResponse)
        told = deleted(answer)
        expect_error(told.error_code, ErrorCode.NONE, "all live replicas begin at 2")
        assert told.low_watermark == 2, f"the low watermark is {told.low_watermark}, expected 2"


@judges("DELR-006")
@needs_broker(Use.JOINABLE)
def test_delete_records_waits_for_live_replica_that_is_not_in_isr(peers: JoinedCluster) -> None:
    """One follower is in sync and has followed. The other is alive, behind, and out of the ISR."""
    follower, behind = peers.join(), peers.join()
    partition = peers.partition([follower, behind])
    partition.produce(3)
    for each in behind, follower:
        partition.follow(each, 3)
    behind.leave()
    partition.await_isr(peers.leader, follower.broker_id)
    behind.come_back()
    broker = partition.broker
    await_alive(broker, behind.broker_id)
    partition.follow(behind, 1)
    partition.follow(follower, 3, log_start=2)
    partition.await_isr(peers.leader, follower.broker_id)
    version = broker.version("DeleteRecords")
    with requirement("DELR-006"):
        late = deleted(broker.ask(deletion(partition, 2, SHORT_MS), version))
        code = ErrorCode.REQUEST_TIMED_OUT
        expect_error(late.error_code, code, "a live replica out of the ISR begins at 0")
        partition.follow(behind, 2, log_start=2)
        told = deleted(broker.ask(deletion(partition, 2, LONG_MS), version))
        expect_error(told.error_code, ErrorCode.NONE, "the replica out of the ISR begins at 2")
        assert told.low_watermark == 2, f"the low watermark is {told.low_watermark}, expected 2"
