"""The search for the start of a frame in the middle of a stream, of requests and of responses.

A length and a header alone are found by chance; a body that decodes to its very last byte is not.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.capture.evidence import RequestEvidence, request_evidence
from harness.capture.limits import CaptureLimits
from harness.capture.reading import read_response
from harness.codec import CodecError
from harness.codec.apis import APIS, Api
from harness.codec.frame import LENGTH_BYTES

_REQUEST_START = struct.Struct(">ihh")
_WHOLE_START = struct.Struct(">ihhi")
_TWO_INTS = struct.Struct(">ii")
_LENGTH = struct.Struct(">i")
SHORTEST_REQUEST = 8  # api key, version, correlation id
SHORTEST_RESPONSE = 4
_HIGHEST_KEY = max(APIS)
_HIGHEST_VERSION = max(api.valid_versions.highest for api in APIS.values())
_STEP = 64  # by which the ids of neighbours may differ: clients count over all connections
_IDS_LOOKED_FOR = 64
_POSSIBLE = 64  # requests that are remembered until a response shows that they are some


class PendingResponse(NamedTuple):
    """The properties of a response that is awaited."""

    correlation_id: int
    api: Api
    version: int


def response_decodes(payload: bytes, awaited: PendingResponse, *, exact: bool = True) -> bool:
    """True if these bytes are the response that is awaited.

    ``exact``: from the first to the last, as the protocol demands it.
    """
    try:
        body = read_response(awaited.api, awaited.version, payload)
    except CodecError:
        return False
    return not (exact and (body.left_over or body.note))


class RequestSearch:
    """The search for a request, known by its own header; the header behind it must be one too.

    A body must end with its frame. One with bytes behind it counts where a packet began with it, or
    where the next request has the next correlation id and the same client id.

    ``sure_only``: the stream may be one of responses, or of another protocol. Requests that could
    be found there by chance are then remembered as ``possible``.
    """

    def __init__(self, limits: CaptureLimits, *, sure_only: bool = False) -> None:
        self._limits, self._sure_only = limits, sure_only
        high = limits.plausible_frame_bytes >> 24
        self._pattern = re.compile(
            rb"(?=[\x00-%b][\s\S]{3}\x00[\x00-%b]\x00[\x00-%b])"
            % tuple(re.escape(bytes([n])) for n in (high, _HIGHEST_KEY, _HIGHEST_VERSION))
        )
        self.forget()

    def forget(self) -> None:
        self._unfinished: list[int] = []  # may begin a request that has not ended yet
        self._resume = 0
        self.possible: deque[PendingResponse] = deque(maxlen=_POSSIBLE)

    def find(
        self,
        buffer: bytearray,
        starts: Sequence[int],
        *,
        last: bool,  # noqa: ARG002
    ) -> int | None:
        """See ``Search``; a request does not need ``last``."""
        candidates = [*self._unfinished]
        candidates += (match.start() for match in self._pattern.finditer(buffer, self._resume))
        self._unfinished = []
        self._resume = max(0, len(buffer) - _REQUEST_START.size + 1)
        for at in candidates:
            if not self._may_begin(buffer, at):
                continue
            end = at + LENGTH_BYTES + _LENGTH.unpack_from(buffer, at)[0]
            if end > len(buffer):
                self._unfinished.append(at)
            elif self._is_request(buffer, at, end, starts):
                return at
        return None

    def _is_request(self, buffer: bytearray, at: int, end: int, starts: Sequence[int]) -> bool:
        seen = request_evidence(bytes(buffer[at + LENGTH_BYTES : end]))
        if seen is None or not self._goes_on(buffer, end, seen.correlation_id):
            return False
        begins_packet = at in starts and (end == len(buffer) or end in starts)
        is_run = self._is_followed(buffer, end, seen)
        if not (seen.exact or begins_packet or is_run):
            return False
        if seen.named or is_run or not self._sure_only:
            return True
        self.possible.append(PendingResponse(seen.correlation_id, seen.api, seen.version))
        return False

    def _goes_on(self, buffer: bytearray, end: int, correlation_id: int) -> bool:
        """True if a request may begin at ``end``: of a known API, or with the next id."""
        if self._may_begin(buffer, end):
            return True
        if len(buffer) - end < _WHOLE_START.size:
            return False
        length, key, version, number = _WHOLE_START.unpack_from(buffer, end)
        plausible = SHORTEST_REQUEST <= length <= self._limits.plausible_frame_bytes
        return plausible and min(key, version) >= 0 and _follows(correlation_id, number)

    def _is_followed(self, buffer: bytearray, at: int, before: RequestEvidence) -> bool:
        """True if a whole request of the same client, with a later id, begins at ``at``."""
        if len(buffer) - at < _REQUEST_START.size or not self._may_begin(buffer, at):
            return False
        end = at + LENGTH_BYTES + _LENGTH.unpack_from(buffer, at)[0]
        seen = request_evidence(bytes(buffer[at + LENGTH_BYTES : end]))
        return (
            end <= len(buffer)
            and seen is not None
            and seen.client_id == before.client_id
            and _follows(before.correlation_id, seen.correlation_id)
        )

    def _may_begin(self, buffer: bytearray, at: int) -> bool:
        """True if the bytes so far could be the start of a request."""
        if len(buffer) - at < _REQUEST_START.size:
            return True
        length, key, version = _REQUEST_START.unpack_from(buffer, at)
        if not SHORTEST_REQUEST <= length <= self._limits.plausible_frame_bytes:
            return False
        api = APIS.get(key)
        return api is not None and version in api.valid_versions


class ResponseSearch:
    """The search for a response, by the correlation id of a request that waits for it.

    Earlier ones, to requests that were not captured, are found when packets begin with them and
    they lead, length by length, to one that is known.
    """

    def __init__(
        self, pending: Callable[[], Iterable[PendingResponse]], limits: CaptureLimits
    ) -> None:
        self._pending, self._limits = pending, limits
        self.forget()

    def forget(self) -> None:
        self._unfinished: list[tuple[int, PendingResponse]] = []
        self._resume = 0

    def find(self, buffer: bytearray, starts: Sequence[int], *, last: bool) -> int | None:
        """See ``Search``."""
        known = self._known(buffer, starts)
        if known is not None:
            (number,) = _LENGTH.unpack_from(buffer, known + LENGTH_BYTES)
            for start in starts:
                if start < known and self._leads(buffer, start, known, number):
                    return start
            return known
        if last:
            for start in starts:
                if self._leads(buffer, start, len(buffer), None):
                    return start
        return None

    def _known(self, buffer: bytearray, starts: Sequence[int]) -> int | None:
        """Return the position of the first response to a request that was captured."""
        candidates = [*self._unfinished, *self._with_known_ids(buffer)]
        self._unfinished = []
        self._resume = max(0, len(buffer) - _TWO_INTS.size + 1)
        for at, awaited in sorted(candidates, key=lambda one: one[0]):
            (length,) = _LENGTH.unpack_from(buffer, at)
            end = at + LENGTH_BYTES + length
            if not SHORTEST_RESPONSE <= length <= self._limits.plausible_frame_bytes:
                continue
            if end > len(buffer):
                self._unfinished.append((at, awaited))
                continue
            fills_packets = at in starts and (end == len(buffer) or end in starts)
            payload = bytes(buffer[at + LENGTH_BYTES : end])
            if self._may_begin(buffer, end) and response_decodes(
                payload, awaited, exact=not fills_packets
            ):
                return at
        return None

    def _with_known_ids(self, buffer: bytearray) -> list[tuple[int, PendingResponse]]:
        found: list[tuple[int, PendingResponse]] = []
        for _, awaited in zip(range(_IDS_LOOKED_FOR), self._pending(), strict=False):
            wanted = _LENGTH.pack(awaited.correlation_id)
            at = buffer.find(wanted, self._resume + LENGTH_BYTES)
            while at >= 0:
                found.append((at - LENGTH_BYTES, awaited))
                at = buffer.find(wanted, at + 1)
        return found

    def _may_begin(self, buffer: bytearray, at: int) -> bool:
        if len(buffer) - at < LENGTH_BYTES:
            return True
        (length,) = _LENGTH.unpack_from(buffer, at)
        return bool(0 <= length <= self._limits.plausible_frame_bytes)

    def _leads(self, buffer: bytearray, start: int, goal: int, last_id: int | None) -> bool:
        """True if frames with ascending ids fill the bytes from ``start`` to ``goal``."""
        before: int | None = None
        while start < goal:
            if goal - start < _TWO_INTS.size:
                return False
            length, number = _TWO_INTS.unpack_from(buffer, start)
            if length < SHORTEST_RESPONSE or (before is not None and not _follows(before, number)):
                return False
            before = number
            start += LENGTH_BYTES + length
        return start == goal and (last_id is None or before is None or _follows(before, last_id))


def _follows(before: int, number: int) -> bool:
    return 0 < (number - before) % (1 << 32) <= _STEP
