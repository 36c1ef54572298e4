"""Defects of a cluster with harmed nodes: leaders, leader epochs and the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    DescribeQuorumResponse,
    MetadataResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.newest_topic import NewestTopic, drop_value, of_newest
from labs.defects.one_node import of_cluster

NOBODY = -1
DEFAULT = [[1, 2, 3]]
UNCLEAN = "unclean.leader.election.enable"


@of_newest("ELECT-001", r"the new leader has \[b'after'\]")
def a_new_leader_has_nothing_from_before(_: NewestTopic, __: SeenRequest, answer: Message) -> None:
    """The new leader lacks the records from before the old leader was lost."""
    drop_value(answer, b"before")


@of_newest("ELECT-002", r"not within .*: another leader is told, the session timeout being")
def a_dead_leader_is_told_for_ever(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """Metadata names the first leader for ever, even after its session has ended."""
    if done.broker_configs:
        done.keep_leaders(answer)


@takes("ELECT-003", r"partition 1 is led by 2, not 3")
def successors_are_in_the_order_of_ids(message: CreateTopicsRequest) -> None:
    """The controller elects the replica with the lowest id next, whatever the assignment says."""
    for topic in message.topics:
        if [list(each.broker_ids) for each in topic.assignments] == [[1, 2, 3], [1, 3, 2]]:
            topic.assignments[1].broker_ids = [1, 2, 3]


@takes("ELECT-005", r"3 leads, the last in sync is 2")
def who_is_back_first_leads(message: CreateTopicsRequest) -> None:
    """A replica that lacks a record leads although unclean elections are disabled."""
    for topic in message.topics:
        for each in topic.configs:
            if each.name == UNCLEAN and len(topic.configs) == 2:
                each.value = "true"


@of_newest("EPOCH-001", r"epochs over changes of the leader: \[(\d+), \1\]")
def a_new_leader_is_of_the_same_epoch(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """The leader epoch of a partition without records never changes."""
    if done.assigned == DEFAULT and not done.produced:
        for each in done.shown(answer):
            index = each.partition_index
            each.leader_epoch = done.told.setdefault(index, each.leader_epoch)


def _ends(
    request: OffsetForLeaderEpochRequest, answer: OffsetForLeaderEpochResponse
) -> Iterator[tuple[int, OffsetForLeaderEpochResponse.EpochEndOffset]]:
    """The requested epoch and the answer of each partition."""
    for topic, of in zip(answer.topics, request.topics, strict=True):
        for each, wanted in zip(topic.partitions, of.partitions, strict=True):
            yield wanted.leader_epoch, each


@answers("EPOCH-002", r"epoch \d+ ends at 4, not 3")
def epochs_end_one_later(
    request: OffsetForLeaderEpochRequest, answer: OffsetForLeaderEpochResponse
) -> None:
    """The end of an epoch with records is one higher than the first offset of the next one."""
    for asked, each in _ends(request, answer):
        if each.leader_epoch == asked and each.end_offset >= 0:
            each.end_offset += 1


@answers("EPOCH-003", r"of epoch (\d+): \(\1, 3\), expected", range(1, 99))
def an_empty_epoch_is_told_as_its_own(
    request: OffsetForLeaderEpochRequest, answer: OffsetForLeaderEpochResponse
) -> None:
    """The answer contains the requested epoch, even if that has no records."""
    for asked, each in _ends(request, answer):
        if each.error_code == ErrorCode.NONE:
            each.leader_epoch = asked


@answers("EPOCH-005", r"error is NONE .*expected FENCED_LEADER_EPOCH")
def old_epochs_are_told_ends(
    request: OffsetForLeaderEpochRequest, answer: OffsetForLeaderEpochResponse
) -> None:
    """The leader answers a request with an older leader epoch without an error."""
    for _, each in _ends(request, answer):
        if each.error_code == ErrorCode.FENCED_LEADER_EPOCH:
            each.error_code = ErrorCode.NONE


@of_newest("EPOCH-011", r"acknowledged \[b'0'\], then there is \[\]")
def who_restarts_loses_its_last_record(_: NewestTopic, __: SeenRequest, answer: Message) -> None:
    """A follower loses the last record that it had when it ended."""
    drop_value(answer, b"0")


@of_newest("ISR-007", r"not within .*: the ISR of .* is \[1, 3\]")
def the_dead_are_in_sync(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """All replicas of three partitions are in sync, dead or not."""
    if len(done.assigned) == 3:
        for each in done.shown(answer):
            each.isr_nodes = list(each.replica_nodes)


@answers("ISR-011", r"the ISR is .* while nobody leads")
def who_is_back_is_in_sync(answer: MetadataResponse) -> None:
    """A replica that is up is in the ISR of a partition without a leader."""
    for topic in answer.topics:
        for each in topic.partitions:
            if each.leader_id == NOBODY and list(each.replica_nodes) == [2, 3]:
                each.isr_nodes = list(each.replica_nodes)


@of_newest("SHUT-001", r"the connection has ended, and 1 is told to lead")
def who_stops_leads_to_the_end(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """A broker that stops goes on to lead a partition without records."""
    if done.assigned == DEFAULT and not done.produced:
        done.keep_leaders(answer)


@answers("SHUT-002", r"partition 0: the ISR is \{1, 2, 3\}")
def who_stops_stays_in_sync(answer: MetadataResponse) -> None:
    """A stopped broker stays in the ISR of the partition that it led by assignment."""
    for topic in answer.topics:
        for each in topic.partitions:
            if list(each.replica_nodes) == [3, 1, 2]:
                each.isr_nodes = list(each.replica_nodes)


class TheFirstControllerIsNamedForEver(FrameRule):
    """Brokers name for ever the first controller that they named."""

    def __init__(self) -> None:
        self.first: int | None = None

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "DescribeQuorum":
            return [payload]
        return [edited(seen, payload, self._as_before)]

    def _as_before(self, seen: SeenRequest, message: DescribeQuorumResponse) -> None:
        del seen
        for topic in message.topics:
            for each in topic.partitions:
                if self.first is None and each.leader_id != NOBODY:
                    self.first = each.leader_id
                each.leader_id = NOBODY if self.first is None else self.first


DEFECTS = of_cluster(
    [
        rule("RAFT-010", r"was killed; .* named are \{1: 10", TheFirstControllerIsNamedForEver),
        a_new_leader_has_nothing_from_before,
        a_dead_leader_is_told_for_ever,
        successors_are_in_the_order_of_ids,
        who_is_back_first_leads,
        a_new_leader_is_of_the_same_epoch,
        epochs_end_one_later,
        an_empty_epoch_is_told_as_its_own,
        old_epochs_are_told_ends,
        who_restarts_loses_its_last_record,
        the_dead_are_in_sync,
        who_is_back_is_in_sync,
        who_stops_leads_to_the_end,
        who_stops_stays_in_sync,
    ],
    private=True,
)
