"""Elections that tests request, and a wait for brokers that must be known before them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ElectLeadersRequest
from harness.conformance.checks import NotSupported
from harness.virtual_broker.partition import WatchedPartition

PREFERRED, UNCLEAN = 0, 1
TIMEOUT_MS = 3_000
"""Timeout in ms of an election.

After it a test looks for the new leader: with a ZooKeeper the broker may never learn of the result.
"""
DONE = (ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.REQUEST_TIMED_OUT)


def elect(broker: BrokerUnderTest, topic: Topic, election_type: int) -> None:
    """Partition 0 of the topic gets another leader, if it needs one.

    Raises NotSupported, PreparationFailed.
    """
    code = election_result(broker, topic, election_type)
    if code not in DONE:
        raise PreparationFailed(f"ElectLeaders: {ErrorCode.describe(code)}", code)


def election_result(broker: BrokerUnderTest, topic: Topic, election_type: int) -> int:
    """Return the error code of an election for partition 0 of the topic. Raises NotSupported."""
    entry = ElectLeadersRequest.TopicPartitions(topic=topic.name, partitions=[0])
    answer = broker.ask(
        ElectLeadersRequest(
            election_type=election_type, topic_partitions=[entry], timeout_ms=TIMEOUT_MS
        )
    )
    results = only(answer.replica_election_results, "topic")
    code = answer.error_code or only(results.partition_result, "partition").error_code
    if code == ErrorCode.UNSUPPORTED_VERSION:
        raise NotSupported("it elects no preferred leaders, as KRaft did not before 3.1")
    return code


def elect_preferred(broker: BrokerUnderTest, partition: WatchedPartition, wanted: int) -> None:
    """Elect the preferred leader, which must be ``wanted``. Raises as :func:`elect`."""
    elect(broker, partition.topic, PREFERRED)
    broker.eventually(lambda: partition.state().leader == wanted, f"{wanted} leads")


def await_alive(broker: BrokerUnderTest, member: int) -> None:
    """Wait until the real broker knows this one to be alive. Raises ResponseTimeout."""
    broker.eventually(
        lambda: member in {each.node_id for each in broker.metadata([]).brokers},
        f"Metadata lists {member}",
    )
