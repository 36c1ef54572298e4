"""The data that members of Kafka Streams exchange inside the consumer protocol."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec import DecodeError, EncodeError
from harness.codec.data_framing import (
    AssignmentInfo,
    HostInfo,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
    assignment_info_bytes,
    read_assignment_info,
    read_subscription_info,
    subscription_info_bytes,
)
from harness.codec.messages import SubscriptionInfoData
from labs.data_vectors.data_vectors import vector, vector_names
from labs.message_values.values import QUICK, outcome

RELEASE = "3.9.2"
VERSIONS = range(1, 12)
versions = pytest.mark.parametrize("version", VERSIONS)


def assignment(version: int) -> AssignmentInfo:
    """The content of the vector of a version."""
    tasks = [TaskId(0, 0), TaskId(0, 1)]
    hosts = [(HostInfo("h1", 80), [TopicPartition("t1", 0)])]
    standby_hosts = [(HostInfo("h2", 81), [TopicPartition("t2", 1)])]
    return AssignmentInfo(
        version,
        commonly_supported_version=11 if version >= 3 else -1,
        active_tasks=[*tasks, TaskId(2, 3, "top")] if version >= 10 else tasks,
        standby_tasks=[(TaskId(1, 0), [TopicPartition("t2", 0)])],
        topics={5: {0: "t1"}}.get(version, {0: "t1", 1: "t2"} if version >= 6 else {}),
        partitions_by_host=hosts if version >= 2 else [],
        standby_partitions_by_host=standby_hosts if version >= 6 else [],
        err_code=1 if version >= 4 else 0,
        next_rebalance_ms=77 if version >= 7 else 2**63 - 1,
    )


@versions
def test_assignment_info_round_trips_at_every_version(version: int) -> None:
    raw = vector(f"streams.assignment{version}", RELEASE)
    wanted = assignment(version)
    assert read_assignment_info(raw) == wanted
    assert assignment_info_bytes(wanted) == raw
    assert assignment_info_bytes(wanted._replace(topics={})) == raw


OLD = [(at, name) for at in ("0.10.1.1", "2.4.1") for name in vector_names(at)]


@pytest.mark.parametrize(
    ("release", "name"), [(at, name) for at, name in OLD if name.startswith("streams.")]
)
def test_user_data_of_releases_before_schema_round_trips(release: str, name: str) -> None:
    """Up to 2.4 the subscription was written by hand too, and the newest version was 5."""
    raw = vector(name, release)
    if name.startswith("streams.assignment"):
        made = read_assignment_info(raw)
        assert made.commonly_supported_version == (5 if made.version >= 3 else -1)
        assert made.standby_tasks == assignment(made.version).standby_tasks
        assert assignment_info_bytes(made) == raw
    else:
        found = read_subscription_info(raw)
        assert found.latest_supported_version == (5 if found.version >= 3 else -1)
        assert found.message is not None
        assert len(found.message.standby_tasks) == (0 if name.endswith("null") else 1)
        assert subscription_info_bytes(found.message) == raw


@versions
def test_truncated_assignment_info_raises_decode_error(version: int) -> None:
    raw = vector(f"streams.assignment{version}", RELEASE)
    for size in range(len(raw)):
        with pytest.raises(DecodeError) as caught:
            read_assignment_info(raw[:size])
        assert caught.value.message == "AssignmentInfo"
        assert caught.value.offset <= size
    with pytest.raises(DecodeError, match="1 bytes left over"):
        read_assignment_info(raw + b"\0")


@QUICK
@given(data=st.data())
def test_damaged_assignment_info_is_decoded_or_raises_decode_error(data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(VERSIONS))
    raw = bytearray(vector(f"streams.assignment{version}", RELEASE))
    start = data.draw(st.integers(0, len(raw) - 1))
    raw[start : start + 4] = data.draw(st.binary(max_size=6))
    found = outcome(lambda: read_assignment_info(bytes(raw)), DecodeError)
    if isinstance(found, AssignmentInfo):
        assert read_assignment_info(assignment_info_bytes(found)) == found


def int32s(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "big", signed=True) for number in numbers)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (int32s(12), "version at byte 0: version 12 is none of 1-11"),
        (int32s(0), "version at byte 0: version 0 is none of 1-11"),
        (int32s(1, -1), "active_tasks at byte 4: -1 elements cannot be in the 0 bytes left"),
        (int32s(1, 2**31 - 1, 0), "active_tasks at byte 4: 2147483647 elements cannot be"),
        (int32s(1, 0, 1, 5, 6, 1) + b"\0\1\xff\0\0\0\0", "partitions[0].topic at byte 24: not mod"),
        (int32s(5, 5, 0, 0, 0, 1) + b"\0\1h" + int32s(1, 1, 9, 0), "topic 9 is not in the dict"),
        (int32s(10, 11, 1, 0, 0, 1) + b"\xd8\0" + int32s(0) * 9, "topology_name at byte 20: not U"),
    ],
)
def test_malformed_assignment_info_raises_decode_error(raw: bytes, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_assignment_info(raw)
    assert said in str(caught.value)


@pytest.mark.parametrize("host", ["", "h\0st", "hôst", "\U0001f600", "x" * 65535])
def test_host_in_modified_utf8_round_trips(host: str) -> None:
    info = AssignmentInfo(2, partitions_by_host=[(HostInfo(host, 1), [])])
    assert read_assignment_info(assignment_info_bytes(info)) == info


def test_modified_utf8_equals_bytes_of_java() -> None:
    """A zero takes two bytes, a character beyond 16 bits two surrogates of three bytes each."""
    info = AssignmentInfo(2, partitions_by_host=[(HostInfo("\0\U0001f600", 1), [])])
    raw = assignment_info_bytes(info)
    assert raw[16:26] == bytes.fromhex("0008c080eda0bdedb880")


@pytest.mark.parametrize(
    ("info", "path"),
    [
        (assignment(1)._replace(partitions_by_host=[(HostInfo("h", 1), [])]), "partitions_by_host"),
        (
            assignment(5)._replace(standby_partitions_by_host=[(HostInfo("h", 1), [])]),
            "standby_partitions_by_host",
        ),
        (assignment(9)._replace(active_tasks=[TaskId(0, 0, "top")]), "topology_name"),
        (assignment(6)._replace(topics={0: "t1"}), "topics"),
        (assignment(1)._replace(version=12), "version"),
        (assignment(1)._replace(active_tasks=[TaskId(2**31, 0)]), ""),
        (assignment(2)._replace(partitions_by_host=[(HostInfo("x" * 65536, 1), [])]), ""),
    ],
)
def test_value_that_version_cannot_carry_raises_encode_error(
    info: AssignmentInfo, path: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        assignment_info_bytes(info)
    assert caught.value.path == path


@versions
def test_subscription_info_round_trips_at_every_version(version: int) -> None:
    raw = vector(f"streams.subscription{version}", RELEASE)
    found = read_subscription_info(raw)
    assert (found.version, found.latest_supported_version) == (version, 11 if version >= 3 else -1)
    assert found.message is not None
    assert found.message.process_id == UUID(int=1 << 64 | 2)
    assert found.message.user_end_point == (b"h1:80" if version >= 2 else b"")
    assert subscription_info_bytes(found.message) == raw


def test_subscription_offset_sums_are_decoded_at_versions_7_and_11() -> None:
    sums = {}
    for version in (7, 11):
        found = read_subscription_info(vector(f"streams.subscription{version}", RELEASE))
        assert found.message is not None
        sums[version] = found.message.task_offset_sums
    grouped = SubscriptionInfoData.PartitionToOffsetSum(partition=1, offset_sum=50)
    assert sums[7][1].partition_to_offset_sum == [grouped]
    assert sums[11][1] == SubscriptionInfoData.TaskOffsetSum(
        topic_group_id=1, partition=1, offset_sum=50, named_topology=None
    )


def test_newer_subscription_is_read_as_its_two_versions() -> None:
    assert read_subscription_info(int32s(12, 13) + b"?") == SubscriptionInfo(12, 13, None)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"", "version"),
        (int32s(0), "version"),
        (int32s(-1, 3), "version"),
        (int32s(12), "latest_supported_version"),
        (int32s(1), "process_id"),
    ],
)
def test_malformed_subscription_raises_decode_error(raw: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_subscription_info(raw)
    assert (caught.value.message, caught.value.path) == ("SubscriptionInfoData", path)
