"""Defects of areas REPL and COORD: one field of an answer is lost by a failover."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.messages import (
    DescribeGroupsResponse,
    DescribeProducersResponse,
    FetchRequest,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.one_node import at, of_broker, of_cluster
from labs.defects.stored_entries import change_entries, without_time
from suites.protocol.support.group_answers import OF_SECOND


class ClientsOfMembersAreForgotten(FrameRule):
    """A new coordinator describes members without their client ids."""

    def __init__(self) -> None:
        self.first = ""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_asked = seen.api is not None and seen.api.name == "DescribeGroups"
        return [edited(seen, payload, self._forget)] if is_asked else [payload]

    def _forget(self, seen: SeenRequest, answer: Message) -> None:
        assert isinstance(answer, DescribeGroupsResponse)
        for group in answer.groups:
            for member in group.members:
                if member.client_id == OF_SECOND:
                    self.first = self.first or seen.place.destination
                    if seen.place.destination != self.first:
                        member.client_id = ""


class TimesOfMessagesAreLost(FrameRule):
    """The second broker gives consumers messages of magic 1 without their timestamps."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        asked = seen.message
        is_meant = at(2, seen) and isinstance(asked, FetchRequest) and asked.replica_id < 0
        return [edited(seen, payload, self._lose)] if is_meant else [payload]

    @staticmethod
    def _lose(_: SeenRequest, answer: Message) -> None:
        change_entries(answer, without_time)


DEFECTS = of_cluster(
    [
        changed_field("REPL-031", "a_new_leader_knows_no_sequence",
            r"after failover \d, by broker 2, .*last_sequence is -1",
            "DescribeProducers returns no sequences at the second broker.",
            DescribeProducersResponse, "topics.partitions.active_producers.last_sequence",
            ANY, -1, asked=of_broker(2)),
        rule("REPL-039", r"after failover 1, by broker 2, Fetch .*timestamp is -1",
             TimesOfMessagesAreLost),
        rule("COORD-007", r"after failover 1, DescribeGroups .*client_id is ''",
             ClientsOfMembersAreForgotten),
    ],
    private=True,
)  # fmt: skip
