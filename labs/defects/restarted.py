"""Defects of a broker that was started again: it goes on with a wrong state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from harness.client.requests import EARLIEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetFetchResponse,
    OffsetForLeaderEpochResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import BatchHeader
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.asked_times import told_of
from labs.defects.defect import rule
from labs.defects.nested_structs import structs_at
from labs.defects.started_again import StartedAgain, after_start
from suites.durability import test_configs_after_restart as of_configs
from suites.durability import test_effects_after_restart as of_effects
from suites.durability import test_groups_after_restart as of_groups
from suites.durability import test_logs_after_restart as of_logs
from suites.durability import test_pending_offsets_after_restart as of_pending

GROUPS, LOGS, EFFECTS = of_groups.PARTITIONS, of_logs.PARTITIONS, of_effects.PARTITIONS
ASKED_BEFORE = 3  # epochs
LOST = (2, 3)  # first sequences of the batches that are cut off
NONE = -1
FOLLOWER = "instance-1"


@after_start("TXN-061", r"after the commit, partition 0: \(offset, metadata\) is \(5,",
             partitions=of_pending.PARTITIONS)  # fmt: skip
def a_start_forgets_pending_offsets(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker forgets the offsets of open transactions when it starts."""
    if isinstance(answer, OffsetFetchResponse):
        found = [
            *structs_at(answer, "topics", "partitions"),
            *structs_at(answer, "groups", "topics", "partitions"),
        ]
        for one in found:
            if one.committed_offset == of_pending.PENDING:
                one.committed_offset, one.metadata = of_pending.COMMITTED, "before"


@after_start("OFFS-031", r"the offset is 5, expected -1", partitions=GROUPS["OFFS-031"])
def each_start_renews_all_offsets(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """No committed offset expires that was committed before the restart."""
    if isinstance(answer, OffsetFetchResponse):
        found = [
            *structs_at(answer, "topics", "partitions"),
            *structs_at(answer, "groups", "topics", "partitions"),
        ]
        for one in found:
            one.committed_offset = 5 if one.committed_offset == NONE else one.committed_offset


@after_start("GRP-067", r"a session of 6 s is away: Stable", partitions=GROUPS["GRP-067"])
def a_loaded_member_has_no_session(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A member that was loaded from the log stays in its group for ever."""
    if isinstance(answer, DescribeGroupsResponse):
        for group in answer.groups:
            group.group_state = group.group_state.replace("Empty", "Stable")


@after_start("GRP-068", r"the first, new generation: error is NONE", partitions=GROUPS["GRP-068"])
def a_joined_generation_is_kept(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A generation is stored when its members have joined."""
    if isinstance(answer, HeartbeatResponse):
        is_later = answer.error_code == ErrorCode.ILLEGAL_GENERATION
        answer.error_code = int(ErrorCode.NONE) if is_later else answer.error_code


@after_start(
    "GRP-080", r"three members, with room for two, is Stable", partitions=GROUPS["GRP-080"]
)
def a_loaded_group_has_room(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A loaded group with more members than there may be stays as it is."""
    if isinstance(answer, DescribeGroupsResponse):
        for group in answer.groups:
            group.group_state = group.group_state.replace("PreparingRebalance", "Stable")


class TheFirstToJoinLeads(StartedAgain):
    """The member that joins a loaded group first is its leader."""

    def __init__(self) -> None:
        super().__init__()
        self.joins: Counter[str | None] = Counter()

    def after(self, seen: SeenRequest, answer: Message) -> None:
        request = seen.message
        if self.partitions != GROUPS["GRP-081"] or not isinstance(request, JoinGroupRequest):
            return
        self.joins[request.group_instance_id] += 1
        is_again = self.joins[FOLLOWER] > 1 and request.group_instance_id == FOLLOWER
        if is_again and isinstance(answer, JoinGroupResponse):
            answer.leader = answer.member_id


@after_start(
    "RECV-028",
    r"batches are lost, (batch \d|the last batch that is left): error is OUT_OF_ORDER",
    partitions=LOGS["RECV-028"],
)
def sequences_go_on_behind_what_is_lost(
    _: StartedAgain, seen: SeenRequest, answer: Message
) -> None:
    """The broker expects the sequence that follows on the batches which recovery cut off."""
    if isinstance(seen.message, ProduceRequest) and isinstance(answer, ProduceResponse):
        data = seen.message.topic_data[0].partition_data[0].records or b""
        if BatchHeader.read(data).base_sequence in LOST:
            for one in answer.responses[0].partition_responses:
                one.error_code = int(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


@after_start(
    "DELR-011",
    r"earliest and latest are \(1, 1\), expected \(0, 1\)",
    partitions=LOGS["DELR-011"],
)
def the_log_start_is_that_of_the_name(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """A new topic begins where the deleted topic of its name began."""
    for one in told_of(seen.message, answer, EARLIEST):
        one.offset = max(one.offset, 1)


@after_start("CONF-042", r"a batch above \d+ bytes: error is NONE", partitions=EFFECTS["CONF-042"])
def limits_are_only_described(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker accepts batches of any size after a restart."""
    if isinstance(answer, ProduceResponse):
        for one in structs_at(answer, "responses", "partition_responses"):
            if one.error_code == ErrorCode.MESSAGE_TOO_LARGE:
                one.error_code = int(ErrorCode.NONE)


@after_start("QUOTA-021", r"the client slow is throttled for 0 ms", partitions=EFFECTS["QUOTA-021"])
def quotas_are_only_described(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker throttles no producer after a restart."""
    if isinstance(answer, ProduceResponse):
        answer.throttle_time_ms = 0


@after_start("CONF-046", r"after a stop, \(32, .*'consumer\.heartbeat\.interval\.ms': '5000'",
             partitions=of_configs.PARTITIONS["CONF-046"])  # fmt: skip
def configs_of_groups_are_not_read(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker forgets the configs of groups when it starts."""
    if isinstance(answer, DescribeConfigsResponse):
        for config in structs_at(answer, "results", "configs"):
            is_set = config.name == "consumer.heartbeat.interval.ms" and config.value == "6000"
            config.value = "5000" if is_set else config.value


class EpochsAreNotRead(StartedAgain):
    """OffsetForLeaderEpoch knows no epoch with batches from before the kill."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, CreateTopicsRequest):
            self._asked = 0
        return super().on_request(seen)

    def after(self, seen: SeenRequest, answer: Message) -> None:
        is_meant = self.partitions == LOGS["RECV-029"] and not self.configs
        if not is_meant or not isinstance(answer, OffsetForLeaderEpochResponse):
            return
        self._asked += 1
        if self._asked > ASKED_BEFORE:
            for one in structs_at(answer, "topics", "partitions"):
                one.end_offset = one.leader_epoch = NONE


DEFECTS = [
    replace(made, private=True)
    for made in (
        a_start_forgets_pending_offsets,
        each_start_renews_all_offsets,
        a_loaded_member_has_no_session,
        a_joined_generation_is_kept,
        a_loaded_group_has_room,
        sequences_go_on_behind_what_is_lost,
        the_log_start_is_that_of_the_name,
        limits_are_only_described,
        quotas_are_only_described,
        configs_of_groups_are_not_read,
        rule("GRP-081", r"generation, leader and number of members are", TheFirstToJoinLeads),
        rule("RECV-029", r"after a kill, .*end_offset is -1", EpochsAreNotRead),
    )
]
