"""Messages behind an int16 version: what members of a group send each other, and principals."""

from __future__ import annotations

import pytest

from harness.codec import DecodeError, UnsupportedVersionError
from harness.codec.data_framing import (
    read_assignment,
    read_connect_assignment,
    read_connect_worker_state,
    read_cooperative_user_data,
    read_principal,
    read_sticky_user_data,
    read_subscription,
    version_prefixed_bytes,
)
from harness.codec.message_codec import encode
from harness.codec.messages import (
    ConnectAssignment,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    CooperativeStickyAssignorUserData,
    DefaultPrincipalData,
    StickyAssignorUserData,
)
from labs.data_vectors.data_vectors import vector

CONNECT = "3.9.2"


@pytest.mark.parametrize("version", range(4))
def test_subscription_round_trips_at_every_version(version: int) -> None:
    raw = vector(f"subscription{version}")
    owned = ConsumerProtocolSubscription.TopicPartition(topic="t1", partitions=[0, 3])
    wanted = ConsumerProtocolSubscription(
        topics=["t1", "t2"],
        user_data=b"\1\2",
        owned_partitions=[owned] if version >= 1 else [],
        generation_id=7 if version >= 2 else -1,
        rack_id="r" if version >= 3 else None,
    )
    assert read_subscription(raw) == (version, wanted)
    assert version_prefixed_bytes(wanted, version) == raw


@pytest.mark.parametrize("version", range(4))
def test_assignment_round_trips_at_every_version(version: int) -> None:
    raw = vector(f"assignment{version}")
    part = ConsumerProtocolAssignment.TopicPartition(topic="t1", partitions=[5])
    wanted = ConsumerProtocolAssignment(assigned_partitions=[part], user_data=None)
    assert read_assignment(raw) == (version, wanted)
    assert version_prefixed_bytes(wanted, version) == raw


@pytest.mark.parametrize("name", ["subscription0", "subscription1", "assignment0", "assignment1"])
def test_vectors_of_2_4_equal_newest_vectors(name: str) -> None:
    assert vector(name, "2.4.1") == vector(name)


def test_newer_subscription_is_read_as_newest_known_version() -> None:
    raw = vector("subscription3")
    newer = b"\0\x09" + raw[2:] + b"what version 9 adds"
    assert read_subscription(newer) == (9, read_subscription(raw).message)
    with pytest.raises(DecodeError, match="bytes left over"):
        read_subscription(raw + b"?")


def test_principal_round_trips_and_unknown_version_is_refused() -> None:
    raw = vector("principal")
    wanted = DefaultPrincipalData(type="User", name="alice", token_authenticated=True)
    assert read_principal(raw) == (0, wanted)
    assert version_prefixed_bytes(wanted, 0) == raw
    with pytest.raises(DecodeError, match="version 1 is none of 0") as caught:
        read_principal(b"\0\1" + raw[2:])
    assert (caught.value.path, caught.value.offset) == ("version", 0)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "2 bytes of version expected, 0 there"),
        (b"\0", "2 bytes of version expected, 1 there"),
        (b"\xff\xff", "version -1 is negative"),
    ],
)
def test_malformed_version_prefix_raises_decode_error(raw: bytes, said: str) -> None:
    for read in (read_subscription, read_assignment, read_principal, read_connect_assignment):
        with pytest.raises(DecodeError, match=said):
            read(raw)


def test_encode_of_unknown_version_raises_unsupported_version_error() -> None:
    with pytest.raises(UnsupportedVersionError):
        version_prefixed_bytes(DefaultPrincipalData(), 1)


def test_sticky_user_data_round_trips_without_version_prefix() -> None:
    part = StickyAssignorUserData.TopicAssignment(topic="t1", partitions=[0, 2])
    new = StickyAssignorUserData(previous_assignment=[part], generation=9)
    old = StickyAssignorUserData(previous_assignment=[part])
    assert read_sticky_user_data(vector("sticky1")) == (1, new)
    assert read_sticky_user_data(vector("sticky0", "2.2.2")) == (0, old)
    assert encode(new, 1) == vector("sticky1")
    assert encode(old, 0) == vector("sticky0", "2.2.2")
    with pytest.raises(DecodeError) as caught:
        read_sticky_user_data(vector("sticky0", "2.2.2")[:-1])
    assert caught.value.version == 0


def test_cooperative_user_data_is_decoded() -> None:
    wanted = CooperativeStickyAssignorUserData(generation=9)
    assert read_cooperative_user_data(vector("cooperative")) == wanted
    with pytest.raises(DecodeError):
        read_cooperative_user_data(b"\0\0\0")


@pytest.mark.parametrize("version", range(3))
def test_connect_assignment_round_trips(version: int) -> None:
    raw = vector(f"connect.assignment{version}", CONNECT)
    found = read_connect_assignment(raw)
    revoked = ConnectAssignment.ConnectorAssignment(connector="c2", tasks=[1])
    assert found.version == version
    assert found.message == ConnectAssignment(
        error=0,
        leader="w1",
        leader_url="http://w1",
        config_offset=5,
        assignment=[ConnectAssignment.ConnectorAssignment(connector="c1", tasks=[-1, 0])],
        revoked=[revoked] if version else None,
        delay=30 if version else 0,
    )
    assert version_prefixed_bytes(found.message, version) == raw


@pytest.mark.parametrize("version", range(3))
def test_connect_worker_state_round_trips(version: int) -> None:
    raw = vector(f"connect.state{version}", CONNECT)
    found = read_connect_worker_state(raw)
    assert (found.version, found.message.url) == (version, "http://w1")
    assert found.message.config_offset == 5
    inside = vector(f"connect.assignment{version}", CONNECT) if version else None
    assert found.message.allocation == inside
    assert version_prefixed_bytes(found.message, version) == raw


def test_connect_worker_state_without_assignment_has_null_allocation() -> None:
    found = read_connect_worker_state(vector("connect.state1null", CONNECT))
    assert found.message.allocation is None
