"""Defects of areas ISR and META: a broker of a cluster that reports wrong ISRs."""

from __future__ import annotations

from harness.codec.messages import MetadataResponse
from labs.defects.edited_answer import answers
from labs.defects.one_node import of_broker, of_cluster

STRANGER = 99
Topic = MetadataResponse.MetadataResponseTopic


def _topics(message: MetadataResponse, partitions: int) -> list[Topic]:
    """The topics with so many partitions."""
    return [topic for topic in message.topics if len(topic.partitions) == partitions]


@answers("ISR-008", r"broker 3 tells of the leader (\d) and the ISR (?!.*\1)", asked=of_broker(3))
def a_leader_is_not_in_its_isr(answer: MetadataResponse) -> None:
    """The third broker leaves the leader out of an ISR that is not whole."""
    for topic in _topics(answer, 2):
        for each in topic.partitions:
            if len(each.isr_nodes) < len(each.replica_nodes):
                each.isr_nodes = [node for node in each.isr_nodes if node != each.leader_id]


@answers("ISR-012", r"tell of the ISRs \{1: \{1, 2\}, 2: \{1, 2, 3\}\}, it is", asked=of_broker(2))
def one_broker_hears_of_no_shrink(answer: MetadataResponse) -> None:
    """The second broker reports all three replicas as in sync."""
    for topic in _topics(answer, 1):
        for each in topic.partitions:
            if len(each.replica_nodes) == 3:
                each.isr_nodes = list(each.replica_nodes)


@answers(
    "META-013",
    r"broker 3 tells of the replicas .* and the ISR .*99"
    r"|by 3 after .*: the ISR has a member that is no replica: \[99\]",
    asked=of_broker(3),
)
def who_is_in_sync_is_no_replica(answer: MetadataResponse) -> None:
    """The third broker reports a broker in the ISR that has no replica."""
    for topic in _topics(answer, 1):
        for each in topic.partitions:
            if len(each.replica_nodes) == 2:
                each.isr_nodes = [*each.isr_nodes, STRANGER]


DEFECTS = of_cluster(
    [a_leader_is_not_in_its_isr, one_broker_hears_of_no_shrink, who_is_in_sync_is_no_replica],
    private=True,
)
