"""Waiting after a change, until the broker itself shows it.

A controller answers when a change is written; brokers receive it through the metadata log. So the
answer to an immediate request is a race that either broker may win; it is no difference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.client.connection import Address, Connection
from harness.client.errors import BrokerMisbehaved
from harness.codec.apis import api_named
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.error_code import ErrorCode
from harness.codec.versions import VersionRange
from harness.differential.ended_transactions import EndedTransactions

Fields = Mapping[str, Any]
_PAUSE_S, _LIMIT_S, _AUTOMATIC_LIMIT_S, _COORDINATOR_LIMIT_S = 0.01, 10.0, 3.0, 60.0
_ABSENT = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
_NOT_YET = (*_ABSENT, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NOT_LEADER_OR_FOLLOWER)
_NOT_LOADED = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_COORDINATOR_KINDS = (0, 1)
_GROUP_IS_MADE = (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
"""Errors of a new member's join that are sent before the new group is written."""
_GROUP_LIMIT_S, _PRODUCER_IDS_LIMIT_S, _WITNESS_LIMIT_S = 0.5, 30.0, 3.0
_GROUPS_ASKED_FOR = 400
FIRST_PRODUCER_IDS = 78
"""Behind the largest small id of ``normal_form``'s fixed values."""


@dataclass(frozen=True, slots=True)
class AwaitedTopic:
    """A topic that must get ``partitions`` or more; with 0 it must disappear."""

    topic: str
    partitions: int
    limit_s: float = _LIMIT_S


@dataclass(frozen=True, slots=True)
class AwaitedGroup:
    """A group that DescribeGroups is to show."""

    group: str
    limit_s: float = _GROUP_LIMIT_S


def _created(request: Fields, answer: Fields) -> Iterator[AwaitedTopic]:
    if request.get("validate_only"):
        return
    for topic in answer["topics"]:
        if topic["error_code"] == ErrorCode.NONE:
            yield AwaitedTopic(topic["name"], max(1, topic.get("num_partitions", 1)))


def _deleted(_request: Fields, answer: Fields) -> Iterator[AwaitedTopic]:
    for topic in answer["responses"]:
        if topic["error_code"] == ErrorCode.NONE and topic["name"]:
            yield AwaitedTopic(topic["name"], 0)


def _grown(request: Fields, answer: Fields) -> Iterator[AwaitedTopic]:
    counts = {topic["name"]: topic["count"] for topic in request["topics"]}
    if not request["validate_only"]:
        for topic in answer["results"]:
            if topic["error_code"] == ErrorCode.NONE:
                yield AwaitedTopic(topic["name"], counts[topic["name"]])


def _made_by_asking(request: Fields, answer: Fields) -> Iterator[AwaitedTopic]:
    named = [topic.get("name") for topic in request["topics"] or ()]
    if request.get("allow_auto_topic_creation", True):
        for topic in answer["topics"]:
            if topic["error_code"] in _NOT_YET and topic["name"] in named and topic["name"]:
                yield AwaitedTopic(topic["name"], 1, _AUTOMATIC_LIMIT_S)


def _joined(request: Fields, answer: Fields) -> Iterator[AwaitedGroup]:
    if not request["member_id"] and answer["error_code"] in _GROUP_IS_MADE:
        yield AwaitedGroup(request["group_id"])


CHANGES: Mapping[str, Callable[[Fields, Fields], Iterator[AwaitedTopic | AwaitedGroup]]] = {
    "CreateTopics": _created,
    "DeleteTopics": _deleted,
    "CreatePartitions": _grown,
    "Metadata": _made_by_asking,
    "JoinGroup": _joined,
}
"""Functions that return the possible changes of each API, from its request and answer."""
THROUGH_THE_CONTROLLER = frozenset(
    (
        *("AlterConfigs", "IncrementalAlterConfigs", "AlterClientQuotas", "CreateAcls"),
        *("DeleteAcls", "AlterUserScramCredentials", "AlterPartitionReassignments"),
        "ElectLeaders",
    )
)
"""APIs with changes in the controller's log: a topic created after such a change is seen after it.

The same holds for the consequences of a topic's deletion: its committed offsets are removed when
the topic is no longer shown.
"""


def _removals(entry: Fields) -> list[Fields]:
    return [{"key": one["key"], "value": 0.0, "remove": True} for one in entry["values"]]


class Settling:
    """Watches one broker on a connection of its own."""

    def __init__(self, address: Address, advertised: Mapping[int, VersionRange], timeout_ms: float,
                 prefix: str) -> None:  # fmt: skip
        self._address, self._timeout_ms = address, timeout_ms
        self._connection: Connection | None = Connection(address, timeout_ms=timeout_ms)
        self.advertised, self.prefix, self.barriers = advertised, prefix, 0
        self._witnesses, self._removes_offsets = f"{prefix}-witness", True
        self._transactions = EndedTransactions(self._ask, self._until)

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def after(self, api: str, request: Fields, answer: Fields) -> None:
        """Wait for the changes of this exchange, each up to its limit."""
        awaited = list(CHANGES[api](request, answer)) if api in CHANGES else []
        for one in awaited:
            self._until(lambda one=one: self._shows(one), one.limit_s)  # type: ignore[misc]
        alters = api in THROUGH_THE_CONTROLLER and not request.get("validate_only")
        if alters or (api == "DeleteTopics" and awaited):
            self._pass_barrier()
        self._transactions.after(api, request, answer)

    def delete_topics(self, prefix: str) -> None:
        """Delete the topics of a finished conversation, and our own.

        A broker with thousands of topics is slow, and a list of all of them would be cut.
        """
        self._transactions.forget()
        everything = self._ask("Metadata", 1, 3, {"topics": None})
        names = [topic["name"] for topic in everything["topics"]] if everything else []
        ours = [name for name in names if name.startswith((prefix, self.prefix))]
        if ours:
            is_witnessed = self._commit_witness(ours[0])
            self._ask("DeleteTopics", 0, 3, {"topic_names": ours, "timeout_ms": 30_000})
            if is_witnessed:
                self._await_forgotten(ours[0])

    def _commit_witness(self, topic: str) -> bool:
        """Commit an offset that the coordinator removes with the topic; True if it is stored.

        Up to 3.9 it removes the empty groups in the same round, whenever that comes: also a group
        of the next conversation with a member that has only got its id (class GroupCoordinator,
        handleDeletedPartitions).
        """
        partition = {"partition_index": 0, "committed_offset": 7}
        fields = {"group_id": self._witnesses, "member_id": "", "retention_time_ms": -1,
                  "generation_id_or_member_epoch": -1,
                  "topics": [{"name": topic, "partitions": [partition]}]}  # fmt: skip
        answer = self._ask("OffsetCommit", 2, 4, fields) if self._removes_offsets else None
        return answer is not None and self._has_witness(topic)

    def _await_forgotten(self, topic: str) -> None:
        """Wait for the end of the offset; a broker that keeps it is not asked again."""
        self._removes_offsets = self._until(lambda: not self._has_witness(topic), _WITNESS_LIMIT_S)

    def _has_witness(self, topic: str) -> bool:
        wanted = {"name": topic, "partition_indexes": [0]}
        fields = {"group_id": self._witnesses, "topics": [wanted]}
        answer = self._ask("OffsetFetch", 1, 5, fields)
        if answer is None:
            return False
        return any(one["committed_offset"] >= 0
                   for found in answer["topics"] for one in found["partitions"])  # fmt: skip

    def delete_groups(self) -> None:
        """Let the members of our groups leave, and delete the groups."""
        everything = self._ask("ListGroups", 0, 2, {})
        names = [group["group_id"] for group in everything["groups"]] if everything else []
        ours = [name for name in names if name.startswith(self.prefix)]
        if not ours:
            return
        described = self._ask("DescribeGroups", 0, 2, {"groups": ours})
        for group in described["groups"] if described else ():
            for member in group["members"]:
                left = {"group_id": group["group_id"], "member_id": member["member_id"]}
                self._ask("LeaveGroup", 0, 2, left)
        self._ask("DeleteGroups", 0, 1, {"groups_names": ours})

    def remove_quotas(self) -> None:
        """Remove the quotas of entities with our names."""
        everything = self._ask("DescribeClientQuotas", 0, 0, {"components": [], "strict": False})
        ours = [entry for entry in (everything or {}).get("entries") or () if self._is_ours(entry)]
        entries = [
            {
                "entity": entry["entity"],
                "ops": [
                    {"key": one["key"], "value": 0.0, "remove": True} for one in entry["values"]
                ],
            }
            for entry in ours
        ]
        if entries:
            self._ask("AlterClientQuotas", 0, 0, {"entries": entries, "validate_only": False})

    def _is_ours(self, entry: Fields) -> bool:
        named = [one["entity_name"] for one in entry["entity"]]
        return any(name is not None and name.startswith(self.prefix) for name in named)

    def close_fetch_sessions(self, ids: Sequence[int]) -> None:
        """Close the sessions of a finished conversation: a broker has 1,000, and evicts late."""
        for session_id in ids:
            fields = {"replica_id": -1, "session_id": session_id, "session_epoch": -1,
                      "topics": [], "forgotten_topics_data": []}  # fmt: skip
            self._ask("Fetch", 7, 12, fields)

    def coordinators(self) -> None:
        """Wait until the topics of the coordinators exist."""
        for kind in _COORDINATOR_KINDS:
            self._until(lambda kind=kind: self._has_coordinator(kind), _COORDINATOR_LIMIT_S)  # type: ignore[misc]
        self._until(self._coordinates_all, _COORDINATOR_LIMIT_S)

    def after_restart(self) -> None:
        """Wait until a restarted broker serves our topics, and coordinates."""
        self.close()
        self.coordinators()
        self._until(self._has_groups, _COORDINATOR_LIMIT_S)
        everything = self._ask("Metadata", 1, 3, {"topics": None})
        for topic in everything["topics"] if everything else ():
            if topic["name"].startswith(self.prefix):
                kept = AwaitedTopic(topic["name"], len(topic["partitions"]))
                self._until(lambda kept=kept: self._shows(kept), kept.limit_s)  # type: ignore[misc]

    def pass_first_producer_ids(self) -> None:
        """Let the broker hand out the producer ids that requests also have as fixed values.

        A new id that equals one would be compared as that value. A broker without ids yet, which
        it gets from its controller, returns an error first.
        """
        fields = {"transactional_id": None, "transaction_timeout_ms": 60_000}
        deadline = time.monotonic() + _PRODUCER_IDS_LIMIT_S
        while time.monotonic() < deadline:
            answer = self._ask("InitProducerId", 0, 1, fields)
            if answer is None or answer["producer_id"] >= FIRST_PRODUCER_IDS - 1:
                return
            if answer["error_code"] != ErrorCode.NONE:
                time.sleep(_PAUSE_S)

    def _until(self, holds: Callable[[], bool], limit_s: float) -> bool:
        """Wait until this holds; False if it did not within the time."""
        deadline = time.monotonic() + limit_s
        while not (is_so := holds()) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        return is_so

    def _has_coordinator(self, kind: int) -> bool:
        # Version 0 finds the coordinators of groups alone, and makes their topic too.
        fields = {"key": self.prefix, **({"key_type": kind} if kind else {})}
        answer = self._ask("FindCoordinator", 1 if kind else 0, 3, fields)
        return answer is None or answer["error_code"] != ErrorCode.COORDINATOR_NOT_AVAILABLE

    def _coordinates_all(self) -> bool:
        """True if the coordinator answers for so many groups that each partition has some.

        A broker without FindCoordinator 1 is shown as coordinator before it has loaded its groups.
        """
        if self._ask("FindCoordinator", 1, 3, {"key": self.prefix, "key_type": 0}) is not None:
            return True
        groups = [f"{self.prefix}-{number}" for number in range(_GROUPS_ASKED_FOR)]
        described = self._ask("DescribeGroups", 0, 0, {"groups": groups})
        return described is None or not any(one["error_code"] for one in described["groups"])

    def _has_groups(self) -> bool:
        """True when the groups are loaded: until then each Heartbeat succeeds."""
        listed = self._ask("ListGroups", 0, 2, {})
        described = self._ask("DescribeGroups", 0, 5, {"groups": [self.prefix]})
        told = [listed, *(described["groups"] if described else ())]
        return not any(one is not None and one["error_code"] in _NOT_LOADED for one in told)

    def _pass_barrier(self) -> None:
        self.barriers += 1
        topic = {"name": f"{self.prefix}-barrier-{self.barriers}", "num_partitions": 1,
                 "replication_factor": 1}  # fmt: skip
        if self._ask("CreateTopics", 1, 4, {"topics": [topic], "timeout_ms": 30_000}) is None:
            return
        made = AwaitedTopic(topic["name"], 1)  # type: ignore[arg-type]
        self._until(lambda: self._shows(made), made.limit_s)

    def _shows(self, awaited: AwaitedTopic | AwaitedGroup) -> bool:
        if isinstance(awaited, AwaitedGroup):
            return self._shows_group(awaited.group)
        request = {"topics": [{"name": awaited.topic}], "allow_auto_topic_creation": False}
        answer = self._ask("Metadata", 4, 9, request)
        if answer is None:
            # An old broker creates each topic that it is asked for: ask for all instead.
            answer = self._ask("Metadata", 1, 3, {"topics": None})
        if answer is None:
            return True
        topic = next((one for one in answer["topics"] if one["name"] == awaited.topic), None)
        if not awaited.partitions:
            is_absent = topic is None or topic["error_code"] in _ABSENT
            return is_absent and self._is_free(awaited.topic)
        if topic is None:
            return False
        indexes = [one["partition_index"] for one in topic["partitions"] if not one["error_code"]]
        return len(indexes) >= awaited.partitions and self._serves(awaited.topic, indexes)

    def _is_free(self, name: str) -> bool:
        """True if a topic of this name may be created.

        A controller with a ZooKeeper removes the name after its brokers have forgotten the topic.
        """
        topic = {"name": name, "num_partitions": 1, "replication_factor": 1}
        request = {"topics": [topic], "timeout_ms": 30_000, "validate_only": True}
        answer = self._ask("CreateTopics", 1, 4, request)
        if answer is None:
            return True
        (checked,) = answer["topics"]
        return bool(checked["error_code"] != ErrorCode.TOPIC_ALREADY_EXISTS)

    def _shows_group(self, group_id: str) -> bool:
        answer = self._ask("DescribeGroups", 0, 5, {"groups": [group_id]})
        return answer is None or answer["groups"][0]["group_state"] != "Dead"

    def _serves(self, topic: str, indexes: list[int]) -> bool:
        partitions = [{"partition_index": index, "timestamp": -1} for index in indexes]
        fields = {"replica_id": -1, "topics": [{"name": topic, "partitions": partitions}]}
        answer = self._ask("ListOffsets", 1, 3, fields)
        if answer is None:
            return True
        shown = [one for found in answer["topics"] for one in found["partitions"]]
        return not any(one["error_code"] in _NOT_YET for one in shown)

    def _ask(self, name: str, lowest: int, highest: int, fields: Fields) -> Fields | None:
        """Send a request at the highest version that fits.

        None if the broker does not serve it, does not answer as it should, or cannot be reached.
        """
        api = api_named(name)
        usable = self.advertised.get(api.key)
        usable = usable & VersionRange(lowest, highest) if usable else None
        if not usable:
            return None
        version = usable.highest
        request: Any = from_dict(api.request, version, fields)
        try:
            if self._connection is None:
                self._connection = Connection(self._address, timeout_ms=self._timeout_ms)
            return to_dict(self._connection.ask(request, version, tolerant=True), version)
        except BrokerMisbehaved:
            self.close()
            return None
