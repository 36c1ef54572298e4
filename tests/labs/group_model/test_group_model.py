"""The machine finds what is planted, and nothing between brokers that are alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from harness.proxies.relay import RunningRelay
from labs.defects.defect import edited
from labs.group_model.group_side import Server
from labs.group_model.run import GroupResult, run
from labs.group_model.servers import server

pytestmark = pytest.mark.rotates(8)

QUICKLY_S, SHRINKING_S = 0.5, 4.0
"""Two brokers that write nothing to a disk come to rest sooner than Kafka."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    logs = tmp_path_factory.mktemp("logs")
    with server("reference", logs) as one, server("reference", logs) as other:
        yield one, other


class Edits(FrameRule):
    """Changes the answers to one kind of request."""

    def __init__(self, request: type[Message], change: Callable[[Any], None]) -> None:
        self.request, self.change = request, change

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, self.request):
            return [payload]
        return [edited(seen, payload, lambda _seen, answer: self.change(answer))]


def no_rebalance_is_told(answer: HeartbeatResponse) -> None:
    if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
        answer.error_code = ErrorCode.NONE


def parts_are_longer(answer: SyncGroupResponse) -> None:
    answer.assignment += b"." if answer.assignment else b""


def behind(stack: ExitStack, one: Server, rule: FrameRule) -> Server:
    """The same broker with a rule between."""
    return replace(one, address=stack.enter_context(RunningRelay(one.address, rule)).address)


def test_equal_brokers_show_no_difference(pair: tuple[Server, Server]) -> None:
    result = run(pair, examples=6, steps=12, number=1)
    assert result.difference is None
    assert result.counts.plays >= 6
    assert sum(n for (state, _), n in result.counts.states.items() if state == "Stable") > 10


@pytest.mark.parametrize(
    ("request_type", "change"),
    [(HeartbeatRequest, no_rebalance_is_told), (SyncGroupRequest, parts_are_longer)],
    ids=["Heartbeat", "SyncGroup"],
)
def test_planted_difference_is_found_and_shrunk(
    pair: tuple[Server, Server], request_type: type[Message], change: Callable[[Any], None]
) -> None:
    with ExitStack() as stack:
        other = behind(stack, pair[1], Edits(request_type, change))
        result = run((pair[0], other), 100, 10, 1, QUICKLY_S, SHRINKING_S)
    assert result.repeats
    assert request_type.__name__.removesuffix("Request") in last_request(result)


def test_violation_by_both_brokers_is_found(pair: tuple[Server, Server]) -> None:
    with ExitStack() as stack:
        rules = [Edits(SyncGroupRequest, parts_are_longer) for _ in pair]
        one, other = (behind(stack, *each) for each in zip(pair, rules, strict=True))
        result = run((one, other), 100, 10, 1, QUICKLY_S, SHRINKING_S)
    assert result.difference is not None
    assert re.search(r"both: \$member_id:\d+ has the part", result.difference)


def last_request(result: GroupResult) -> str:
    """Return the last request in the story as a line: its number, the client, the request."""
    assert result.difference is not None
    lines = re.findall(r"^ *\d+  (?:actor \d|we): .*$", result.difference, re.MULTILINE)
    return str(lines[-1])
