from harness.base.ids import LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets, OffsetLimits
from tests.reference_broker.group_logs import nowhere

PLACE: Place = ("t", PartitionIndex(0))
OTHER: Place = ("t", PartitionIndex(1))
NOW = TimeMs(0)


def offsets() -> CommittedOffsets:
    return CommittedOffsets(OffsetLimits(retention_ms=1000, metadata_characters=4), nowhere())


def committed(at: int, expires_at: int | None = None) -> CommittedOffset:
    until = None if expires_at is None else TimeMs(expires_at)
    return CommittedOffset(Offset(5), LeaderEpoch(-1), "", TimeMs(at), until)


def committed_at(_group: str, _place: Place, held: CommittedOffset) -> TimeMs:
    return held.committed_at


def test_committed_offset_expires_after_retention() -> None:
    held = offsets()
    held.commit("g", [(PLACE, committed(at=0))], NOW)
    held.commit("g", [(OTHER, committed(at=1))], NOW)
    held.expire(TimeMs(999), committed_at)
    assert set(held.of_group("g")) == {PLACE, OTHER}
    held.expire(TimeMs(1000), committed_at)
    assert set(held.of_group("g")) == {OTHER}


def test_explicit_expiry_overrides_retention_unless_group_keeps_offset() -> None:
    held = offsets()
    held.commit("g", [(PLACE, committed(at=0, expires_at=10))], NOW)
    held.commit("g", [(OTHER, committed(at=0, expires_at=5000))], NOW)
    held.expire(TimeMs(2000), lambda *_: None)
    assert set(held.of_group("g")) == {PLACE, OTHER}
    held.expire(TimeMs(2000), committed_at)
    assert set(held.of_group("g")) == {OTHER}


def test_group_without_offsets_is_forgotten() -> None:
    held = offsets()
    held.commit("g", [(PLACE, committed(at=0))], NOW)
    held.commit("h", [(("u", PartitionIndex(0)), committed(at=0))], NOW)
    held.remove("g", OTHER, NOW)
    assert held.has_any("g")
    held.remove_topic("t", 2, NOW)
    assert not held.has_any("g")
    assert held.has_any("h")


def test_offset_of_partition_that_never_existed_stays_when_topic_is_deleted() -> None:
    held = offsets()
    others = [("t", PartitionIndex(index)) for index in (-1, 99)]
    held.commit("g", [(place, committed(at=0)) for place in (PLACE, *others)], NOW)
    held.remove_topic("t", 2, NOW)
    assert set(held.of_group("g")) == {*others}


def test_metadata_limit_counts_utf16_code_units() -> None:
    held = offsets()
    assert held.takes_metadata(None)
    assert held.takes_metadata("éééé")
    assert held.takes_metadata("\U0001f600" * 2)
    assert not held.takes_metadata("\U0001f600" * 2 + "e")
