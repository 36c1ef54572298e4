"""Commits and reads of a group's offsets, with topics by name or id as the version demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.coordinator import GROUP, await_coordinator
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import NOT_YET

NO_OFFSET = -1
MOST_SHOWN = 20  # characters of metadata
FIRST_FETCH_OF_GROUPS = 8  # several groups in one request (KIP-709)
BY_ID = 10  # from this version on both APIs name topics by id (KIP-848)
FIRST_IN_KAFKA = "1+"  # before that, both keep offsets in ZooKeeper
SETTLING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
Committed = OffsetCommitRequest.OffsetCommitRequestPartition
Fetched = (
    OffsetFetchResponse.OffsetFetchResponsePartition
    | OffsetFetchResponse.OffsetFetchResponsePartitions
)
Place = tuple[str, int]
"""A partition: the topic's name, or its id as text where the broker returns no name; the index."""


@dataclass(frozen=True, slots=True)
class Committer:
    """The member that commits; by default none, as a consumer with partitions of its own choice."""

    generation: int = -1
    member_id: str = ""


@dataclass(slots=True)
class GroupOffsets:
    """The part of an OffsetFetch response for one group: its own error code, and each partition."""

    error_code: int = ErrorCode.NONE
    partitions: dict[Place, Fetched] = field(default_factory=dict)

    def expect(
        self, topic: Topic, offset: int, metadata: str = "", *, partition: int = 0, where: str = ""
    ) -> Fetched:
        """The partition has this offset and metadata and no error."""
        told = f"{where or 'the group'}, partition {partition}"
        expect_error(self.error_code, ErrorCode.NONE, where or "the group")
        found = self.partitions.get((topic.name, partition))
        assert found is not None, f"{told}: not in the answer, which has {sorted(self.partitions)}"
        expect_error(found.error_code, ErrorCode.NONE, told)
        seen = (found.committed_offset, _shown(found.metadata))
        wanted = (offset, _shown(metadata))
        same = (found.committed_offset, found.metadata) == (offset, metadata)
        assert same, f"{told}: (offset, metadata) is {seen}, expected {wanted}"
        return found

    def expect_none(self, topic: Topic, *, partition: int = 0, where: str = "") -> None:
        """The partition has no committed offset; OFFS-002 judges its metadata."""
        told = f"{where or 'the group'}, partition {partition}"
        expect_error(self.error_of(topic, partition), ErrorCode.NONE, told)
        found = self.partitions.get((topic.name, partition))
        assert found is not None, f"{told}: not in the answer, which has {sorted(self.partitions)}"
        offset = found.committed_offset
        assert offset == NO_OFFSET, f"{told}: offset is {offset}, expected {NO_OFFSET}"

    def error_of(self, topic: Topic, partition: int = 0) -> int:
        """The group's error, which older versions have in each partition; else the partition's."""
        found = self.partitions.get((topic.name, partition))
        return self.error_code or (found.error_code if found else ErrorCode.NONE)


def _shown(metadata: str | None) -> str | None:
    long = metadata is not None and len(metadata) > MOST_SHOWN
    return f"{len(metadata or '')} characters" if long else metadata


def entry(offset: int, metadata: str | None = "", partition: int = 0) -> Committed:
    """An offset to commit; no leader epoch, no time."""
    return Committed(
        partition_index=partition, committed_offset=offset, committed_metadata=metadata
    )


def commit_request(
    group: str,
    entries: Mapping[Topic, Sequence[Committed]],
    version: int,
    by: Committer | None = None,
) -> OffsetCommitRequest:
    """One request for all entries."""
    by = by or Committer()
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=by.generation,
        member_id=by.member_id,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                name="" if version >= BY_ID else topic.name,
                topic_id=topic.id if version >= BY_ID else ZERO_UUID,
                partitions=list(partitions),
            )
            for topic, partitions in entries.items()
        ],
    )


def ask_to_commit(
    broker: BrokerUnderTest,
    group: str,
    entries: Mapping[Topic, Sequence[Committed]],
    version: int,
    by: Committer | None = None,
) -> dict[Place, int]:
    """The error code of each partition."""
    request = commit_request(group, entries, version, by)
    return committed(broker, request, version, list(entries))


def committed(
    broker: BrokerUnderTest, request: OffsetCommitRequest, version: int, topics: Sequence[Topic]
) -> dict[Place, int]:
    """Send it; the error code of each partition of these topics."""
    names = {topic.id: topic.name for topic in topics}
    return {
        (
            names.get(answered.topic_id, str(answered.topic_id))
            if version >= BY_ID
            else answered.name,
            partition.partition_index,
        ): partition.error_code
        for answered in broker.ask(request, version).topics
        for partition in answered.partitions
    }


def expect_codes(
    found: Mapping[Place, int], expected: Mapping[Place, ErrorCode], where: str = ""
) -> None:
    """The answer has these partitions and no other, each with its error."""
    assert sorted(found) == sorted(expected), (
        f"{where}: asked for {sorted(expected)}, the answer has {sorted(found)}"
    )
    for place, error in expected.items():
        topic, partition = place
        prefix = f"{where}, " if where else ""
        expect_error(found[place], error, f"{prefix}partition {partition} of {topic}")


def commit(
    broker: BrokerUnderTest,
    group: str,
    entries: Mapping[Topic, Sequence[Committed]],
    version: int | None = None,
    by: Committer | None = None,
) -> None:
    """Preparation: what is refused raises PreparationFailed."""
    version = broker.version("OffsetCommit", FIRST_IN_KAFKA) if version is None else version
    send_commit(broker, commit_request(group, entries, version, by), version, list(entries))


def send_commit(
    broker: BrokerUnderTest, request: OffsetCommitRequest, version: int, topics: Sequence[Topic]
) -> None:
    """Preparation: what is refused raises PreparationFailed.

    A coordinator that is about to forget a group without offsets is asked again.
    """

    again = NOT_YET if request.member_id else {*NOT_YET, ErrorCode.UNKNOWN_MEMBER_ID}  # up to 2.2

    def asked() -> dict[Place, int] | None:
        found = committed(broker, request, version, topics)
        return None if again & set(found.values()) else found

    with preparing("OffsetCommit"):
        codes = broker.eventually(asked, "the coordinator takes a commit")
    for place, code in codes.items():
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"OffsetCommit {place}: {ErrorCode.describe(code)}", code)


def fetch_request(
    wanted: Mapping[str, Mapping[Topic, Sequence[int]] | None],
    version: int,
    *,
    stable: bool = False,
) -> OffsetFetchRequest:
    """The partitions wanted of each group, None for all; before v8 there is one group.

    ``stable``: from v7 on, offsets without a transaction that may replace them (KIP-447).
    """
    if version >= FIRST_FETCH_OF_GROUPS:
        groups = [
            OffsetFetchRequest.OffsetFetchRequestGroup(
                group_id=group,
                topics=None if topics is None else _topics_of_a_group(topics, version),
            )
            for group, topics in wanted.items()
        ]
        return OffsetFetchRequest(groups=groups, require_stable=stable)
    ((group, topics),) = wanted.items()
    named = (
        None
        if topics is None
        else [
            OffsetFetchRequest.OffsetFetchRequestTopic(
                name=topic.name, partition_indexes=list(indexes)
            )
            for topic, indexes in topics.items()
        ]
    )
    return OffsetFetchRequest(group_id=group, topics=named, require_stable=stable)


def _topics_of_a_group(
    topics: Mapping[Topic, Sequence[int]], version: int
) -> list[OffsetFetchRequest.OffsetFetchRequestTopics]:
    return [
        OffsetFetchRequest.OffsetFetchRequestTopics(
            name="" if version >= BY_ID else topic.name,
            topic_id=topic.id if version >= BY_ID else ZERO_UUID,
            partition_indexes=list(indexes),
        )
        for topic, indexes in topics.items()
    ]


def fetch_groups(
    broker: BrokerUnderTest,
    wanted: Mapping[str, Mapping[Topic, Sequence[int]] | None],
    version: int,
    known: Sequence[Topic] = (),
    *,
    stable: bool = False,
) -> dict[str, GroupOffsets]:
    """Return the broker's offsets of each group.

    ``known``: topics beside the requested ones, by which topic ids become names.
    ``stable`` as in :func:`fetch_request`.
    """
    topics = [*known, *(topic for each in wanted.values() if each for topic in each)]
    answer = broker.ask(fetch_request(wanted, version, stable=stable), version)
    if version < FIRST_FETCH_OF_GROUPS:
        return {only(list(wanted), "group"): _of_one_group(answer)}
    names = {topic.id: topic.name for topic in topics}
    found: dict[str, GroupOffsets] = {}
    for group in answer.groups:
        assert group.group_id not in found, f"the answer has the group {group.group_id} twice"
        offsets = found.setdefault(group.group_id, GroupOffsets(group.error_code))
        for topic in group.topics:
            by_id = names.get(topic.topic_id, str(topic.topic_id))
            name = by_id if version >= BY_ID else topic.name
            offsets.partitions |= {(name, each.partition_index): each for each in topic.partitions}
    return found


def _of_one_group(answer: OffsetFetchResponse) -> GroupOffsets:
    return GroupOffsets(
        answer.error_code,
        {
            (topic.name, each.partition_index): each
            for topic in answer.topics
            for each in topic.partitions
        },
    )


def fetch_offsets(
    broker: BrokerUnderTest,
    group: str,
    topics: Mapping[Topic, Sequence[int]] | None,
    version: int | None = None,
    known: Sequence[Topic] = (),
) -> GroupOffsets:
    """Return the broker's offsets of one group."""
    version = broker.version("OffsetFetch", FIRST_IN_KAFKA) if version is None else version
    answered = fetch_groups(broker, {group: topics}, version, known)
    assert list(answered) == [group], f"asked for {group}, the answer has {list(answered)}"
    return answered[group]


def ask_to_delete_offsets(
    broker: BrokerUnderTest, version: int, group: str, *places: Place
) -> OffsetDeleteResponse:
    """The offsets of these partitions."""
    topics: dict[str, list[int]] = {}
    for name, index in places:
        topics.setdefault(name, []).append(index)
    request = OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequest.OffsetDeleteRequestTopic(
                name=name,
                partitions=[
                    OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=index)
                    for index in indexes
                ],
            )
            for name, indexes in topics.items()
        ],
    )
    return broker.ask(request, version)


def deleted_codes(answer: OffsetDeleteResponse) -> dict[Place, int]:
    """The error code of each partition; the group has none."""
    expect_error(answer.error_code, ErrorCode.NONE, "the group")
    return {
        (topic.name, partition.partition_index): partition.error_code
        for topic in answer.topics
        for partition in topic.partitions
    }


def fresh_group(broker: BrokerUnderTest, topic: Topic) -> str:
    """Return the name of an unused group with a coordinator that is ready for requests."""
    await_coordinator(broker, GROUP)
    group = broker.unique_group()
    broker.delete_group_later(group)
    broker.eventually(
        lambda: fetch_offsets(broker, group, {topic: [0]}).error_of(topic) not in SETTLING,
        f"the coordinator of {group} answers",
    )
    return group
