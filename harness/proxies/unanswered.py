"""The requests of one connection that await an answer, in the order of their sending."""

from __future__ import annotations

import struct
from collections import deque
from functools import cached_property, lru_cache
from typing import NamedTuple

from harness.capture.produce_acks import acks_at_start
from harness.codec.apis import APIS, Api
from harness.codec.messages import RequestHeader
from harness.codec.structs import Message
from harness.proxies.counters import Counters
from harness.proxies.limits import ProxyLimits
from harness.proxies.raw_tokens import RawTokens
from harness.proxies.seen import NOWHERE, PRODUCE_KEY, SeenConnection, SeenRequest
from harness.proxies.toxics.chain import PIECE_COST_BYTES

HEAD = struct.Struct(">hhi")  # api key, version, correlation id
_FLEXIBLE_PRODUCE = 9
_STUCK = 64  # so many requests without an answer may stand before one that is answered


class PeekedRequest(SeenRequest):
    """A request that went by unread: only API, version and correlation id are known."""

    def __init__(self, sent: UnansweredRequest, place: SeenConnection) -> None:
        head = b""
        if sent.correlation_id is not None:
            head = HEAD.pack(sent.api_key, sent.version, sent.correlation_id)
        super().__init__(head, sent.ordinal, place=place)
        self._sent, self._api = sent, _known_api(sent.api_key, sent.version)

    @property
    def api(self) -> Api | None:
        return self._api

    @property
    def version(self) -> int:
        return self._sent.version if self._api else -1

    @property
    def header(self) -> RequestHeader | None:
        if self._api is None:
            return None
        return RequestHeader(
            request_api_key=self._sent.api_key,
            request_api_version=self._sent.version,
            correlation_id=self._sent.correlation_id or 0,
        )

    @cached_property
    def message(self) -> Message | None:
        return None


@lru_cache(maxsize=4096)
def _known_api(key: int, version: int) -> Api | None:
    api = APIS.get(key)
    return api if api and version in api.valid_versions else None


class UnansweredRequest(NamedTuple):
    """One request on its way. ``seen`` is there when it was read whole."""

    correlation_id: int | None
    api_key: int
    version: int
    ordinal: int
    seen: SeenRequest | None = None
    perhaps_silent: bool = False  # a Produce with unknown acks
    is_token: bool = False  # of SASL, without a header: the next frame answers it

    def request(self, place: SeenConnection = NOWHERE) -> SeenRequest:
        """Return the request, as far as it is known."""
        return PeekedRequest(self, place) if self.seen is None else self.seen


def acks_of(data: bytes, at: int, stop: int, version: int) -> int | None:
    """Return ``acks`` of the Produce request in ``data[at:stop]``; None: not to be seen."""
    at += HEAD.size
    at += 2 + max(0, int.from_bytes(data[at : at + 2], "big", signed=True))
    if version >= _FLEXIBLE_PRODUCE:
        if data[at : at + 1] != b"\0":  # tags in a header: no client sends them with Produce
            return None
        at += 1
    return acks_at_start(version, data[at : min(stop, at + 512)])


class OwnAnswer:
    """An answer that the broker does not give; its turn comes after the answers before it."""

    __slots__ = ("data", "is_gone")
    correlation_id = None
    seen = None
    perhaps_silent = is_token = False

    def __init__(self) -> None:
        self.data: bytes | None = None  # None: not given yet
        self.is_gone = False  # it waits no more: given on, or forgotten


class Unanswered:
    """Answers come in the order of requests; a correlation id shows where one was not answered."""

    __slots__ = (
        "_counters", "_kept_bytes", "_limits", "_queue", "own_bytes", "own_count", "tokens",
    )  # fmt: skip

    def __init__(self, counters: Counters, limits: ProxyLimits) -> None:
        self._counters, self._limits = counters, limits
        self._queue: deque[UnansweredRequest | OwnAnswer] = deque()
        self.own_count = 0  # of OwnAnswers that wait
        self.own_bytes = 0  # that they cost
        self._kept_bytes = 0
        self.tokens = RawTokens()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def kept_bytes(self) -> int:
        """Bytes of requests that are kept until they are answered."""
        return self._kept_bytes

    def expect(self, data: bytes, at: int, stop: int, ordinal: int,
               seen: SeenRequest | None = None) -> None:  # fmt: skip
        """Add a request to the broker; its payload is ``data[at:stop]``, or begins there."""
        if stop - at < HEAD.size or len(data) - at < HEAD.size:
            self.add(UnansweredRequest(None, -1, -1, ordinal, seen))
            return
        key, version, correlation_id = HEAD.unpack_from(data, at)
        perhaps_silent = False
        if key == PRODUCE_KEY:
            acks = acks_of(data, at, stop, version)
            if acks == 0:
                return
            perhaps_silent = acks is None
        self.add(UnansweredRequest(correlation_id, key, version, ordinal, seen, perhaps_silent))

    def add(self, sent: UnansweredRequest) -> None:
        """Add a request behind all others; if it is too large to be kept, as peeked only."""
        if sent.seen is not None:
            size = len(sent.seen.payload)
            if self._kept_bytes + size > self._limits.kept_bytes:
                sent = sent._replace(seen=None)
            else:
                self._kept_bytes += size
        self._append(sent)

    def _append(self, one: UnansweredRequest | OwnAnswer) -> None:
        self._queue.append(one)
        if len(self._queue) > self._limits.unanswered:
            self._forget(self._queue.popleft())
            self._counters.forgotten += 1

    def first(self) -> UnansweredRequest | None:
        """Return the request that is answered next, without tokens and what perhaps is silent."""
        for sent in self._queue:
            if isinstance(sent, UnansweredRequest) and not (sent.perhaps_silent or sent.is_token):
                return sent
        return None

    def promise(self) -> OwnAnswer:
        """Reserve the place of an answer that will be given here."""
        own = OwnAnswer()
        self.own_count += 1
        self.own_bytes += PIECE_COST_BYTES
        self._append(own)
        return own

    def give(self, own: OwnAnswer, data: bytes) -> None:
        """Give the promised answer; it stays until its turn has come."""
        if not own.is_gone:
            own.data = data
            self.own_bytes += len(data)

    def own_due(self, *, all_of_them: bool = False) -> list[bytes]:
        """Take out and return the own answers with their turn, in order."""
        if all_of_them:
            self._queue = deque(sent for sent in self._queue if isinstance(sent, OwnAnswer))
        due = []
        while self._queue and isinstance(own := self._queue[0], OwnAnswer):
            if own.data is None and not all_of_them:
                break
            self._queue.popleft()
            self._leaves(own)
            due.append(own.data or b"")
        return due

    def answered(self, correlation_id: int | None) -> UnansweredRequest | None:
        """Return the request of a response that begins; None when it answers no request."""
        if not self._queue:
            self._counters.unasked += 1
            return None
        while self._queue[0].is_token and len(self._queue) > 1:  # the last one had no answer
            self._queue.popleft()
        first = self._queue[0]
        if first.correlation_id != correlation_id and not first.is_token:
            self._step_over(correlation_id)
        sent = self._queue.popleft()
        if isinstance(sent, OwnAnswer):  # its time has not come, and no request has this id
            self._queue.appendleft(sent)
            return None
        self.tokens.answered(sent.api_key, sent.version)
        return sent if sent.seen is None else self._taken(sent)

    def _step_over(self, correlation_id: int | None) -> None:
        """Bring the request with this id to the front, or leave the one in turn.

        Those before it that perhaps get no answer got none; others keep their places.
        """
        queue = self._queue
        for index in range(1, min(len(queue), _STUCK)):
            if queue[index].correlation_id == correlation_id:
                break
        else:
            self._counters.mismatched += 1
            return
        wanted, before = queue[index], [queue.popleft() for _ in range(index)]
        queue.popleft()
        silent = [sent for sent in before if sent.perhaps_silent]
        waiting = [sent for sent in before if not sent.perhaps_silent]
        for sent in silent:
            self._forget(sent)
        if waiting:
            self._counters.mismatched += 1
        queue.extendleft(reversed(waiting))
        queue.appendleft(wanted)

    def _forget(self, sent: UnansweredRequest | OwnAnswer) -> None:
        if isinstance(sent, UnansweredRequest):
            self._taken(sent)
        else:
            self._leaves(sent)

    def _leaves(self, own: OwnAnswer) -> None:
        own.is_gone = True
        self.own_count -= 1
        self.own_bytes -= PIECE_COST_BYTES + len(own.data or b"")

    def _taken(self, sent: UnansweredRequest) -> UnansweredRequest:
        if sent.seen is not None:
            self._kept_bytes -= len(sent.seen.payload)
        return sent
