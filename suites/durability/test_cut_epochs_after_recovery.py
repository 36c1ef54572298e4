"""RECV: the leader epochs of a log that lost its end when the broker is started again."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back, entries_of, segments_in
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.leader_epoch import told_leader_epoch

PARTITIONS = 14
"""By which the defect recognizes the test; three of them are used."""
BATCHES = 2
"""In each of two epochs, of one record each."""
CUT = (1, 2, 3)
"""Numbers of batches that the logs lose: of the second epoch a part, all, and of the first too."""
WITH_EPOCH = "1+"


def _end_of(client: BrokerUnderTest, topic: Topic, partition: int, epoch: int) -> tuple[int, int]:
    """The epoch and end offset that the broker returns for an epoch."""
    kinds = OffsetForLeaderEpochRequest
    wanted = kinds.OffsetForLeaderPartition(partition=partition, leader_epoch=epoch)
    asked = kinds.OffsetForLeaderTopic(topic=topic.name, partitions=[wanted])
    request = kinds(replica_id=-1, topics=[asked])
    answer = client.ask(request, client.version("OffsetForLeaderEpoch", WITH_EPOCH))
    found = only(only(answer.topics, "topic").partitions, "partition")
    expect_error(found.error_code, ErrorCode.NONE, f"OffsetForLeaderEpoch of {epoch}")
    return found.leader_epoch, found.end_offset


def _two_epochs(kept: PersistentBroker, topic: Topic) -> tuple[int, int]:
    """Append to the used partitions before and behind a restart; return the epochs."""
    for is_again in (False, True):
        if is_again:
            kept.stop()
            kept.start()
        for partition in range(len(CUT)):
            await_back(kept.client, topic, partition)
            batches = [batch_of(b"%d" % number) for number in range(BATCHES)]
            append(kept.client, topic, *batches, partition=partition)
    written = [one.partition_leader_epoch or 0 for one in batches_of(kept.client, topic)]
    first, second = written[0], written[-1]
    if first == second:
        raise NotApplicable("leader epochs", "with a ZooKeeper a restart begins no leader epoch")
    return first, second


def _cut(kept: PersistentBroker, topic: Topic) -> None:
    """Remove the last batches of each log."""
    for partition, lost in enumerate(CUT):
        (segment,) = segments_in(kept.partition_folder(topic.name, partition))
        data = segment.read_bytes()
        segment.write_bytes(data[: entries_of(data)[-lost].at + 1])


@judges("RECV-032")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_recovery_removes_epochs_of_batches_that_it_cuts_off(
    persistent_broker: PersistentBroker,
) -> None:
    """Of the first batch that is lost one byte is left; records follow, and another kill."""
    client = persistent_broker.client
    client.version("OffsetForLeaderEpoch", WITH_EPOCH)
    topic = client.create_topic(PARTITIONS)
    first, second = _two_epochs(persistent_broker, topic)
    persistent_broker.kill()
    _cut(persistent_broker, topic)
    with requirement("RECV-032") as check:
        for when in ("after the cut", "after another kill"):
            persistent_broker.start()
            for partition, lost in enumerate(CUT):
                await_back(client, topic, partition)
                with check.subtest(f"{when}, {lost} are lost"):
                    told = f"{when}, {lost} batches are lost"
                    _expect_ends(client, topic, partition, (first, second), told)
                append(client, topic, batch_of(b"next"), partition=partition)
            persistent_broker.kill()
        persistent_broker.start()


def _expect_ends(
    client: BrokerUnderTest, topic: Topic, partition: int, epochs: tuple[int, int], when: str
) -> None:
    """Both epochs end where what is left of them does; the present one ends with the log."""
    first, second = epochs
    left = 2 * BATCHES - CUT[partition]
    ends = {first: (first, min(left, BATCHES))}
    ends[second] = (second, left) if left > BATCHES else ends[first]
    if told_leader_epoch(client, topic, partition) == second:  # up to 3.9 a kill begins none
        ends[second] = (second, client.end_offset(topic, partition))
    found = {each: _end_of(client, topic, partition, each) for each in ends}
    assert found == ends, f"{when}: (epoch, end) of epochs are {found}, expected {ends}"
