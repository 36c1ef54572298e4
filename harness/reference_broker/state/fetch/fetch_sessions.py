"""Incremental fetch sessions: the partitions of a client and the values sent last (KIP-227).

Source: class FetchSession and its cache. A session lives until its client closes it or forgets its
last partition, or until a new session of higher rank needs the slot.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import FetchSessionId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.memory_budget import PER_THING_BYTES, MemoryBudget
from harness.reference_broker.state.randomness import Randomness

NO_SESSION = FetchSessionId(0)
FIRST_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1
_EVICTABLE_AFTER_MS = 120_000
_MEMORY_BYTES = 128 * 1024 * 1024

FetchKey = tuple[str | UUID, int]
"""The topic as the request names it (by name, or by id from v13 on) and the partition."""


@dataclass(frozen=True, slots=True)
class WantedPartition:
    """Fetch parameters of one partition.

    `known_name` is the topic name that the topic id stood for when the client added the partition:
    with it a session notices that the topic was deleted or is another one. `log_start_offset` is a
    follower's.
    """

    key: FetchKey
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int
    last_fetched_epoch: int
    known_name: str | None = None
    log_start_offset: int = -1


@dataclass(slots=True)
class _Told:
    """The values of one partition that were sent last; with -1 the next response includes it."""

    wanted: WantedPartition
    high_watermark: int = -1
    log_start_offset: int = -1


@dataclass(slots=True)
class FetchSession:
    """The partitions of one session, in the order in which a response is filled.

    `is_privileged`: the client is a follower, not a consumer.
    """

    session_id: FetchSessionId
    uses_topic_ids: bool
    is_privileged: bool
    created: TimeMs
    last_used: TimeMs
    partitions: dict[FetchKey, _Told]
    epoch: int = 1

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Rank in an eviction, lowest first: consumers before brokers, small before large."""
        return self.is_privileged, len(self.partitions), self.session_id

    def gives_way_to(self, privileged: bool) -> bool:
        """True if a new session of higher rank may replace this one.

        That is so if this one had been in use for long at its last use, or if it is a consumer's
        and the new one a broker's.
        """
        was_long_in_use = self.last_used - self.created > _EVICTABLE_AFTER_MS
        return was_long_in_use or (privileged and not self.is_privileged)

    def wanted(self) -> list[WantedPartition]:
        """Return all partitions of the session."""
        return [told.wanted for told in self.partitions.values()]

    def update(self, wanted: Iterable[WantedPartition], forgotten: Iterable[FetchKey]) -> None:
        """Add, change and remove partitions according to an incremental request."""
        for want in wanted:
            told = self.partitions.get(want.key)
            if told is None:
                self.partitions[want.key] = _Told(want)
            else:
                told.wanted = want
        for key in forgotten:
            self.partitions.pop(key, None)

    def note_answer(
        self, key: FetchKey, error: ErrorCode, high_watermark: int, log_start: int, has_data: bool
    ) -> bool:
        """Store the values of a response; return True if they are new, and so must be sent.

        A partition with data moves to the end of the order, so that each partition gets its turn.
        """
        told = self.partitions.get(key)
        if told is None:
            return False
        news = (
            has_data
            or error is not ErrorCode.NONE
            or told.high_watermark != high_watermark
            or told.log_start_offset != log_start
        )
        # The first response after an error is always new, even with the same watermark.
        told.high_watermark = high_watermark if error is ErrorCode.NONE else -1
        told.log_start_offset = log_start
        if has_data:
            self.partitions[key] = self.partitions.pop(key)
        return news


class FetchSessions:
    """At most `slots` sessions, of at most `memory_bytes` by estimate."""

    __slots__ = ("_room", "_sessions", "_slots")

    def __init__(self, slots: int, memory_bytes: int = _MEMORY_BYTES) -> None:
        self._slots = slots
        self._room = MemoryBudget(memory_bytes, self._used_bytes)
        self._sessions: dict[FetchSessionId, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def create(
        self,
        wanted: Iterable[WantedPartition],
        uses_topic_ids: bool,
        now: TimeMs,
        randomness: Randomness,
        privileged: bool = False,
    ) -> FetchSession | None:
        """Create a session; None if there is no room: then each fetch must be a full one."""
        session = FetchSession(
            self._free_id(randomness),
            uses_topic_ids,
            privileged,
            now,
            now,
            {want.key: _Told(want) for want in wanted},
        )
        if len(self._sessions) >= self._slots and not self._evict_for(session, now):
            return None
        if not self._room.take(_size_of(session.partitions), now):
            return None
        self._sessions[session.session_id] = session
        return session

    def resume(
        self, session_id: FetchSessionId, epoch: int, uses_topic_ids: bool, now: TimeMs
    ) -> FetchSession | ErrorCode:
        """Return the session of an incremental request, or an error. `epoch` must be the next."""
        session = self._sessions.get(session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.uses_topic_ids != uses_topic_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        session.last_used = now
        session.epoch = 1 if epoch == _EPOCH_MAX else epoch + 1
        return session

    def update(
        self,
        session: FetchSession,
        wanted: Collection[WantedPartition],
        forgotten: Iterable[FetchKey],
        now: TimeMs,
    ) -> bool:
        """Change the partitions of a session; if it becomes too large, close it, return False."""
        session.update(wanted, forgotten)
        added = [want.key for want in wanted]
        if self._room.take(_size_of(added), now):
            return True
        self.close(session.session_id)
        return False

    def close(self, session_id: FetchSessionId) -> None:
        """Remove a session, if there is one."""
        self._sessions.pop(session_id, None)

    def _used_bytes(self) -> int:
        return sum(_size_of(session.partitions) for session in self._sessions.values())

    def _evict_for(self, newcomer: FetchSession, now: TimeMs) -> bool:
        """Make room for a session; return False if none can be evicted.

        Evict the session that was unused for longest if it is stale, else the one of lowest rank if
        its rank is lower than the new one's.
        """
        if not self._sessions:
            return False
        victim = min(self._sessions.values(), key=lambda s: (s.last_used, s.session_id))
        if now - victim.last_used <= _EVICTABLE_AFTER_MS:
            privileged = newcomer.is_privileged
            candidates = [s for s in self._sessions.values() if s.gives_way_to(privileged)]
            lowest = min(candidates, key=lambda s: s.rank, default=newcomer)
            if lowest.rank[:2] >= newcomer.rank[:2]:
                return False
            victim = lowest
        self.close(victim.session_id)
        return True

    def _free_id(self, randomness: Randomness) -> FetchSessionId:
        while True:
            session_id = FetchSessionId(randomness.getrandbits(31))
            if session_id != NO_SESSION and session_id not in self._sessions:
                return session_id


def _size_of(keys: Iterable[FetchKey]) -> int:
    return sum(PER_THING_BYTES + len(str(topic)) for topic, _ in keys)
