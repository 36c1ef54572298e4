"""The groups that have members in JoinGroup, for defects of a group in its join phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.codec.messages import JoinGroupRequest
from harness.proxies import FrameRule, SeenRequest


class WaitingJoins(FrameRule):
    """Count the JoinGroup requests of each group that have no answer yet; change nothing."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def of_group(self, group_id: str) -> int:
        return self._waiting[group_id]

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self._waiting[seen.message.group_id] += 1
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            self._waiting[seen.message.group_id] -= 1
        return [payload]
