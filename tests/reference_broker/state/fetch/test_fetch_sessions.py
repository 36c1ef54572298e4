import pytest

from harness.base.ids import FetchSessionId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.fetch.fetch_sessions import (
    FetchSession,
    FetchSessions,
    WantedPartition,
)
from tests.reference_broker.state.partition.test_partition import Counting

NOW = TimeMs(0)


class Increasing(Counting):
    def __init__(self) -> None:
        self.last = 0

    def getrandbits(self, k: int, /) -> int:
        self.last += 1
        return self.last % (1 << k)


def want(index: int, offset: int = 0) -> WantedPartition:
    return WantedPartition(("topic", index), offset, 100, -1, -1)


def opened(sessions: FetchSessions, partitions: int = 2, now: TimeMs = NOW) -> FetchSession:
    session = sessions.create([want(i) for i in range(partitions)], False, now, Increasing())
    assert session is not None
    return session


def test_fetch_session_epoch_increases_from_one() -> None:
    sessions = FetchSessions(5)
    session = opened(sessions)
    assert sessions.resume(session.session_id, 1, False, NOW) is session
    again = sessions.resume(session.session_id, 1, False, NOW)
    assert again is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert sessions.resume(session.session_id, 2, False, NOW) is session


def test_unknown_session_and_mixed_topic_naming_are_refused() -> None:
    sessions = FetchSessions(5)
    session = opened(sessions)
    unknown = sessions.resume(FetchSessionId(99), 1, False, NOW)
    assert unknown is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    mixed = sessions.resume(session.session_id, 1, True, NOW)
    assert mixed is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_incremental_fetch_includes_partition_only_on_change_or_error() -> None:
    session = opened(FetchSessions(5))
    key = ("topic", 0)
    assert session.note_answer(key, ErrorCode.NONE, 3, 0, has_data=False)
    assert not session.note_answer(key, ErrorCode.NONE, 3, 0, has_data=False)
    assert session.note_answer(key, ErrorCode.NONE, 4, 0, has_data=False)
    assert session.note_answer(key, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, has_data=False)
    assert session.note_answer(key, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, has_data=False)
    assert session.note_answer(key, ErrorCode.NONE, 4, 0, has_data=False)


def test_partition_with_data_moves_to_end_of_session_order() -> None:
    session = opened(FetchSessions(5), partitions=3)
    session.note_answer(("topic", 0), ErrorCode.NONE, 3, 0, has_data=True)
    assert [wanted.key[1] for wanted in session.wanted()] == [1, 2, 0]


def test_session_update_adds_changes_and_removes_partitions() -> None:
    session = opened(FetchSessions(5))
    session.update([want(0, offset=7), want(5)], [("topic", 1)])
    assert [(w.key[1], w.fetch_offset) for w in session.wanted()] == [(0, 7), (5, 0)]


def test_full_session_cache_refuses_until_session_is_stale() -> None:
    sessions = FetchSessions(1)
    old = opened(sessions)
    assert sessions.create([want(0)], False, TimeMs(1000), Increasing()) is None
    newcomer = sessions.create([want(0)], False, TimeMs(120_001), Increasing())
    assert newcomer is not None
    assert len(sessions) == 1
    assert old.session_id != newcomer.session_id or old is not newcomer


@pytest.mark.parametrize(("last_used", "gives_way"), [(120_000, False), (120_001, True)])
def test_larger_session_replaces_smaller_one_used_for_long(last_used: int, gives_way: bool) -> None:
    sessions = FetchSessions(1)
    old = opened(sessions, partitions=2)
    sessions.resume(old.session_id, 1, False, TimeMs(last_used))
    later = TimeMs(120_500)
    assert sessions.create([want(0), want(1)], False, later, Increasing()) is None
    larger = sessions.create([want(0), want(1), want(2)], False, later, Increasing())
    assert (larger is not None) == gives_way


def test_broker_session_evicts_smallest_consumer_session() -> None:
    sessions = FetchSessions(3)
    ids = Increasing()
    large, small, next_small = (
        sessions.create([want(i) for i in range(size)], False, NOW, ids) for size in (3, 1, 1)
    )
    newcomer = sessions.create([want(0)], False, NOW, ids, privileged=True)
    assert newcomer is not None
    consumers = [session for session in (large, small, next_small) if session is not None]
    found = [sessions.resume(s.session_id, 1, False, NOW) for s in consumers]
    assert found == [large, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, next_small]


def test_broker_session_is_not_evicted_by_new_session() -> None:
    sessions = FetchSessions(1)
    brokers_own = sessions.create([want(0)], False, NOW, Increasing(), privileged=True)
    assert brokers_own is not None
    many = [want(i) for i in range(5)]
    assert sessions.create(many, False, NOW, Increasing()) is None
    assert sessions.create(many, False, NOW, Increasing(), privileged=True) is None


def test_session_cache_without_slots_creates_no_session() -> None:
    assert FetchSessions(0).create([want(0)], False, NOW, Increasing()) is None
