"""OFFS: offsets that a consumer commits without being a member, and what is read of them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.committed_offsets import (
    BY_ID,
    NO_OFFSET,
    Committer,
    ask_to_commit,
    commit,
    commit_request,
    committed,
    entry,
    expect_codes,
    fetch_groups,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import held_group
from suites.protocol.support.kept_topics import KeptTopics

LONGEST_METADATA = 4096  # offset.metadata.max.bytes as it comes
FAR_BEHIND_THE_END = 1_000_000_000
LARGEST_OFFSET = 2**63 - 1
RECORDS = 3
GROUP_ID_NOT_FOUND_SINCE = 9


def _three_partitions(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=3)


def _two_with_records(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic(partitions=2)
    for partition in range(2):
        append(broker, topic, batch_of(*[b"r"] * RECORDS), partition=partition)
    return topic


# -- what is committed is what is read -------------------------------------------------------------


@judges("OFFS-001")
@at_versions("OffsetCommit", "1", "2+")
def test_later_offset_commit_replaces_offset_and_metadata(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A second commit replaces the first, offset and metadata, though its offset is lower.

    A third one with empty metadata leaves none of the second.
    """
    topic = kept.topic(broker, _three_partitions)
    group = held_group(broker, topic)
    places = {(topic.name, 0): ErrorCode.NONE, (topic.name, 1): ErrorCode.NONE}
    commits = {
        "first": ((5, "five"), (7, "")),
        "second": ((3, "three"), (9, "neun \u2013 \u4e5d")),
        "third": ((4, ""), (9, "")),
    }
    with requirement("OFFS-001") as check:
        for where, ((offset, metadata), (other, others)) in commits.items():
            with check.subtest(where):
                entries = {topic: [entry(offset, metadata), entry(other, others, 1)]}
                codes = ask_to_commit(broker, group, entries, api_version)
                expect_codes(codes, places, f"{where} commit")
                found = fetch_offsets(broker, group, {topic: [0, 1]})
                when = f"after the {where} commit"
                found.expect(topic, offset, metadata, where=when)
                found.expect(topic, other, others, partition=1, where=when)


@judges("OFFS-034")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_with_null_metadata_stores_empty_metadata(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """In a partition with the metadata of an earlier commit, and in one without a commit."""
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "five")]})
    with requirement("OFFS-034"):
        entries = {topic: [entry(6, None), entry(7, None, 1)]}
        codes = ask_to_commit(broker, group, entries, api_version)
        expect_codes(codes, {(topic.name, index): ErrorCode.NONE for index in (0, 1)})
        found = fetch_offsets(broker, group, {topic: [0, 1]})
        found.expect(topic, 6, where="after null metadata")
        found.expect(topic, 7, partition=1, where="after null metadata")


@judges("OFFS-029")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_of_partition_named_twice_stores_last_entry(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Partition 0 twice in one entry of the topic, partition 1 in two; the last offset is lower."""
    topic = kept.topic(broker, _three_partitions)
    group = held_group(broker, topic)
    entries = [entry(9, "first"), entry(7, "first", 1), entry(5, "last")]
    request = commit_request(group, {topic: entries}, api_version)
    request.topics += commit_request(group, {topic: [entry(3, "last", 1)]}, api_version).topics
    with requirement("OFFS-029"):
        codes = committed(broker, request, api_version, [topic])
        expect_codes(codes, {(topic.name, index): ErrorCode.NONE for index in (0, 1)})
        found = fetch_offsets(broker, group, {topic: [0, 1]})
        found.expect(topic, 5, "last", where="twice in one entry")
        found.expect(topic, 3, "last", partition=1, where="in two entries")


@judges("OFFS-001")
@at_versions("OffsetFetch", "1", "2-5", "6-7", "8+")
def test_each_offset_fetch_version_returns_same_offset_and_metadata(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Offset and metadata of two partitions, at each version of OffsetFetch."""
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "five"), entry(7, "seven", 1)]})
    commit(broker, group, {topic: [entry(3, "three")]})
    with requirement("OFFS-001"):
        found = fetch_offsets(broker, group, {topic: [0, 1]}, api_version)
        found.expect(topic, 3, "three")
        found.expect(topic, 7, "seven", partition=1)


@judges("OFFS-002")
@at_versions("OffsetFetch", "1", "2-5", "6-7", "8+")
def test_offset_fetch_without_commit_returns_minus_1_and_no_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """In a group with another commit and in one that is not there; unknown partitions, too.

    The name of a group in capitals is that of another group, which another broker may coordinate.
    A topic that is not there is asked for by its name alone: an id says which topic is meant.
    """
    topic = kept.topic(broker, _three_partitions)
    unknown = Topic(broker.unique_topic())
    group, other = fresh_group(broker, topic), fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "five")]})
    wanted = {topic: [1, 99]} if api_version >= BY_ID else {topic: [1, 99], unknown: [0]}
    with requirement("OFFS-002") as check:
        for name, where in ((group, "a group with a commit"), (other, "an unknown group")):
            with check.subtest(where):
                found = fetch_offsets(broker, name, wanted, api_version)
                for asked, indexes in wanted.items():
                    for index in indexes:
                        found.expect(asked, NO_OFFSET, partition=index, where=where)
        with check.subtest("in capitals"):
            found = fetch_offsets(broker, group.upper(), {topic: [0]}, api_version)
            if found.error_of(topic) != ErrorCode.NOT_COORDINATOR:
                found.expect(topic, NO_OFFSET, where="in capitals")


@judges("OFFS-003")
@at_versions("OffsetFetch", "2-5", "6-7", "8+")
def test_offset_fetch_with_null_topics_returns_all_committed_offsets(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Partitions of two topics, one at offset 0, and none that was not committed."""
    topic, other = kept.topic(broker, _three_partitions), broker.create_topic()
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "five"), entry(0, "", 2)], other: [entry(1)]})
    with requirement("OFFS-003"):
        found = fetch_offsets(broker, group, None, api_version, known=[topic, other])
        found.expect(topic, 5, "five")
        found.expect(topic, 0, partition=2)
        found.expect(other, 1)
        assert len(found.partitions) == 3, f"three were committed, not {sorted(found.partitions)}"


@judges("OFFS-003")
@at_versions("OffsetFetch", "2-5", "6-7", "8+")
def test_offset_fetch_with_empty_list_of_topics_returns_no_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Only null means all: an empty list names no topic."""
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "five"), entry(7, "", 2)]})
    with requirement("OFFS-003"):
        found = fetch_offsets(broker, group, {}, api_version, known=[topic])
        expect_error(found.error_code, ErrorCode.NONE, "no topic")
        assert not found.partitions, f"no topic is named, in the answer are {[*found.partitions]}"


@judges("OFFS-019")
@at_versions("OffsetFetch", "5", "6-7", "8+")
def test_offset_fetch_with_null_topics_returns_committed_leader_epochs(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The same epochs, or -1, as for partitions that are named."""
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    entries = [entry(5, "", index) for index in range(3)]
    entries[0].committed_leader_epoch, entries[2].committed_leader_epoch = 7, 0
    commit(broker, group, {topic: entries}, broker.version("OffsetCommit", "6+"))
    with requirement("OFFS-019") as check:
        for wanted in ({topic: [0, 1, 2]}, None):
            where = "all" if wanted is None else "named"
            with check.subtest(where):
                found = fetch_offsets(broker, group, wanted, api_version, known=[topic])
                epochs = [
                    found.expect(topic, 5, partition=index, where=where).committed_leader_epoch
                    for index in range(3)
                ]
                assert epochs == [7, -1, 0], f"{where}: leader epochs are {epochs}, not [7, -1, 0]"


@judges("OFFS-019")
@at_versions("OffsetCommit", "2-5", "6+")
def test_commit_without_leader_epoch_replaces_epoch_of_earlier_commit(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A client that does not know epochs, or this one, commits after one that does."""
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    first, other = entry(5), entry(5, "", 1)
    first.committed_leader_epoch = other.committed_leader_epoch = 7
    commit(broker, group, {topic: [first, other]}, broker.version("OffsetCommit", "6+"))
    commit(broker, group, {topic: [entry(6)]}, api_version)
    fetch_version = broker.version("OffsetFetch", "5+")
    with requirement("OFFS-019"):
        found = fetch_offsets(broker, group, {topic: [0, 1]}, fetch_version)
        epochs = [
            found.expect(topic, offset, partition=index).committed_leader_epoch
            for index, offset in ((0, 6), (1, 5))
        ]
        assert epochs == [-1, 7], f"leader epochs after the later commit are {epochs}, not [-1, 7]"


@judges("OFFS-004")
@at_versions("OffsetFetch", "8+")
def test_offset_fetch_of_several_groups_returns_offsets_of_each(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Each has its own offsets and error: two with commits, two asked for all, one unknown."""
    topic = kept.topic(broker, _three_partitions)
    first, second, whole, last, unknown = (fresh_group(broker, topic) for _ in range(5))
    for offset, group in enumerate((first, second, whole, last)):
        commit(broker, group, {topic: [entry(offset, group), entry(offset + 10, group, 1)]})
    with requirement("OFFS-004") as check:
        wanted = {
            whole: None,
            first: {topic: [0]},
            second: {topic: [1]},
            last: None,
            unknown: {topic: [0]},
        }
        found = fetch_groups(broker, wanted, api_version)
        assert sorted(found) == sorted(wanted), f"asked for {list(wanted)}, got {list(found)}"
        found[first].expect(topic, 0, first, where="first")
        found[second].expect(topic, 11, second, partition=1, where="second")
        for offset, name, where in ((2, whole, "whole"), (3, last, "another whole one")):
            with check.subtest(where):
                found[name].expect(topic, offset, name, where=where)
                found[name].expect(topic, offset + 10, name, partition=1, where=where)
        found[unknown].expect_none(topic, where="unknown")
        counts = {name: len(group.partitions) for name, group in found.items()}
        expected = {first: 1, second: 1, whole: 2, last: 2, unknown: 1}
        assert counts == expected, f"partitions of each group are {counts}, expected {expected}"


@judges("OFFS-025")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_accepts_any_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of empty logs their begin, and offsets far behind the end up to the largest one.

    Of a log with three records an offset before its end, of another one offsets behind it.
    """
    empty, filled = kept.topic(broker, _three_partitions), kept.topic(broker, _two_with_records)
    group = held_group(broker, empty)
    offsets = {empty: (FAR_BEHIND_THE_END, 0, LARGEST_OFFSET), filled: (RECORDS - 1, RECORDS + 1)}
    with requirement("OFFS-025"):
        entries = {
            topic: [entry(offset, "", index) for index, offset in enumerate(wanted)]
            for topic, wanted in offsets.items()
        }
        codes = ask_to_commit(broker, group, entries, api_version)
        places = [
            (topic, index) for topic, wanted in offsets.items() for index in range(len(wanted))
        ]
        expect_codes(codes, {(topic.name, index): ErrorCode.NONE for topic, index in places})
        found = fetch_offsets(broker, group, {empty: [0, 1, 2], filled: [0, 1]})
        for topic, index in places:
            found.expect(topic, offsets[topic][index], partition=index)


@judges("OFFS-024")
@at_versions("OffsetCommit", "0")
def test_offset_commit_v0_is_visible_only_at_offset_fetch_v0_or_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """It is read at version 0 alone, and has no metadata: that is ZooKeeper. Or it is refused."""
    topic = kept.topic(broker, _three_partitions)
    group = broker.unique_group()
    with requirement("OFFS-024"):
        codes = ask_to_commit(broker, group, {topic: [entry(5, "five")]}, api_version)
        found = fetch_offsets(broker, group, {topic: [0]}, api_version)
        if codes == {(topic.name, 0): ErrorCode.UNSUPPORTED_VERSION}:
            expect_error(found.error_of(topic), ErrorCode.UNSUPPORTED_VERSION, "OffsetFetch")
            return
        expect_codes(codes, {(topic.name, 0): ErrorCode.NONE})
        found.expect(topic, 5)
        if broker.advertised("OffsetFetch").highest >= 1:
            fresh_group(broker, topic)
            elsewhere = fetch_offsets(broker, group, {topic: [0]})
            offset = elsewhere.partitions[topic.name, 0].committed_offset
            assert offset == NO_OFFSET, f"{offset} is read at a later version, too"


# -- what is refused -------------------------------------------------------------------------------


@judges("OFFS-008")
@at_versions("OffsetCommit", "1-8", "9+")
def test_offset_commit_with_generation_to_unknown_group_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """ILLEGAL_GENERATION, from version 9 on GROUP_ID_NOT_FOUND, and no offset.

    The generations are one of a group that was lost, and the lowest one that a commit may name.
    """
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    found_since = api_version >= GROUP_ID_NOT_FOUND_SINCE
    expected = ErrorCode.GROUP_ID_NOT_FOUND if found_since else ErrorCode.ILLEGAL_GENERATION
    with requirement("OFFS-008") as check:
        for generation in (5, 0):
            with check.subtest(f"generation {generation}"):
                by = Committer(generation=generation, member_id="of-a-lost-group")
                codes = ask_to_commit(broker, group, {topic: [entry(1)]}, api_version, by)
                expect_codes(codes, {(topic.name, 0): expected}, f"generation {generation}")
                where = f"after a refused commit of generation {generation}"
                fetch_offsets(broker, group, {topic: [0]}).expect_none(topic, where=where)


@judges("OFFS-011")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_with_too_long_metadata_fails_only_its_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """4096 characters are stored, 4097 are OFFSET_METADATA_TOO_LARGE and change nothing.

    Each of these characters has two bytes in UTF-8.
    """
    topic = kept.topic(broker, _three_partitions)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(1, "before", 1)]})
    longest = "\u00fc" * LONGEST_METADATA
    with requirement("OFFS-011"):
        entries = {topic: [entry(5, longest), entry(6, f"{longest}m", 1), entry(7, "short", 2)]}
        codes = ask_to_commit(broker, group, entries, api_version)
        expected = (ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.NONE)
        expect_codes(codes, {(topic.name, i): code for i, code in enumerate(expected)})
        found = fetch_offsets(broker, group, {topic: [0, 1, 2]})
        found.expect(topic, 5, longest)
        found.expect(topic, 1, "before", partition=1)
        found.expect(topic, 7, "short", partition=2)


@judges("OFFS-012")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_to_unknown_partition_fails_and_others_are_stored(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """UNKNOWN_TOPIC_OR_PARTITION for a partition and, where topics have names, for a topic."""
    topic = kept.topic(broker, _three_partitions)
    unknown = Topic(broker.unique_topic())
    group = held_group(broker, topic)
    absent = (99, 3, -1)
    entries = {topic: [entry(5), *(entry(6, partition=p) for p in absent), entry(7, partition=2)]}
    expected = {
        (topic.name, 0): ErrorCode.NONE,
        **{(topic.name, each): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for each in absent},
        (topic.name, 2): ErrorCode.NONE,
    }
    if api_version < BY_ID:
        entries[unknown] = [entry(8)]
        expected[unknown.name, 0] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("OFFS-012"):
        expect_codes(ask_to_commit(broker, group, entries, api_version), expected)
        found = fetch_offsets(broker, group, {topic: [0, 2]})
        found.expect(topic, 5)
        found.expect(topic, 7, partition=2)
