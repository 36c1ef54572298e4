"""Waiting after the end of a transaction, until its coordinator has written all that is due.

EndTxn is answered when the decision is written. Until each partition has its marker the coordinator
refuses the next transaction, and readers see the old state: how long, is a race. Before 4.0 the
coordinator of a group takes in the offsets of a transaction after that, on a thread of its own
(GroupCoordinator.scheduleHandleTxnCompletion).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.codec.error_code import ErrorCode

Fields = Mapping[str, Any]
Ask = Callable[[str, int, int, Fields], Fields | None]
"""API, lowest and highest version, fields -> the answer; None without one."""
Until = Callable[[Callable[[], bool], float], bool]
"""Waits until a condition holds, for a number of seconds."""
_MARKERS_LIMIT_S, _OFFSETS_LIMIT_S = 5.0, 0.5
_UNDECIDED = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
_ENDING = ("EndTxn", "InitProducerId")
_Place = tuple[str, str, int]
"""Group, topic, partition."""


class EndedTransactions:
    """The transactions of one conversation at one broker."""

    def __init__(self, ask: Ask, until: Until) -> None:
        self._ask, self._until = ask, until
        self._producers: dict[str, tuple[int, int]] = {}
        self._offsets: dict[str, dict[_Place, int]] = {}

    def forget(self) -> None:
        """A new conversation begins, with other names."""
        self._producers.clear()
        self._offsets.clear()

    def after(self, api: str, request: Fields, answer: Fields) -> None:
        """Wait for what this exchange has begun to end."""
        id_ = request.get("transactional_id")
        if not id_:
            return
        if api == "TxnOffsetCommit":
            self._note_offsets(id_, request, answer)
        if api not in _ENDING:
            return
        before = self._producers.get(id_, (-1, -1))
        if not answer["error_code"] and answer.get("producer_id", -1) >= 0:
            self._producers[id_] = answer["producer_id"], answer["producer_epoch"]
        self._until(lambda: self._is_decided(api, request, answer, before), _MARKERS_LIMIT_S)
        if api == "EndTxn" and not answer["error_code"]:
            self._await_offsets(id_, is_commit=request["committed"])

    def _note_offsets(self, id_: str, request: Fields, answer: Fields) -> None:
        """Note what was stored. A topic that only has an id here is left out."""
        stored = {
            (topic["name"], part["partition_index"])
            for topic in answer["topics"]
            for part in topic["partitions"]
            if topic.get("name") and not part["error_code"]
        }
        pending = self._offsets.setdefault(id_, {})
        for topic in request["topics"]:
            for part in topic["partitions"]:
                place = topic.get("name", ""), part["partition_index"]
                if place in stored:
                    pending[request["group_id"], *place] = part["committed_offset"]

    def _is_decided(
        self, api: str, request: Fields, answer: Fields, before: tuple[int, int]
    ) -> bool:
        id_ = request["transactional_id"]
        shown = self._ask("DescribeTransactions", 0, 0, {"transactional_ids": [id_]})
        if shown is not None:
            return all(one["transaction_state"] not in _UNDECIDED
                       for one in shown["transaction_states"])  # fmt: skip
        if api == "EndTxn":
            is_due, same = not answer["error_code"], dict(request)
        else:  # the coordinator aborts in the name of the next epoch
            is_due = answer["error_code"] == ErrorCode.CONCURRENT_TRANSACTIONS
            same = {"transactional_id": id_, "producer_id": before[0],
                    "producer_epoch": before[1] + 1, "committed": False}  # fmt: skip
        return not is_due or self._is_complete(same)

    def _is_complete(self, same: Fields) -> bool:
        """True if an EndTxn that repeats the decision is not refused as too early any more."""
        again = self._ask("EndTxn", 0, 3, same)
        return again is None or again["error_code"] != ErrorCode.CONCURRENT_TRANSACTIONS

    def _await_offsets(self, id_: str, *, is_commit: bool) -> None:
        pending = self._offsets.pop(id_, {})
        for place, offset in pending.items():
            expected = offset if is_commit else None
            self._until(
                lambda place=place, expected=expected: self._has_offset(place, expected),  # type: ignore[misc]
                _OFFSETS_LIMIT_S,
            )

    def _has_offset(self, place: _Place, expected: int | None) -> bool:
        """True if the offset is stable, and this one. A release without KIP-447 knows no unstable
        ones, and shows nothing of an abort."""
        group, topic, partition = place
        wanted = [{"name": topic, "partition_indexes": [partition]}]
        fields = {"group_id": group, "topics": wanted, "require_stable": True}
        answer = self._ask("OffsetFetch", 7, 7, fields)
        if answer is None:
            del fields["require_stable"]
            answer = self._ask("OffsetFetch", 1, 5, fields)
        if answer is None:
            return True
        found = [part for one in answer["topics"] for part in one["partitions"]]
        if any(one["error_code"] for one in found):
            return not any(one["error_code"] == ErrorCode.UNSTABLE_OFFSET_COMMIT for one in found)
        return expected is None or any(one["committed_offset"] == expected for one in found)
