"""Groups that a coordinator forgets meanwhile, or has not loaded yet, change no verdict."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.deletion import delete_groups
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
)
from harness.proxies import FrameRule, RunningRelay, SeenRequest
from labs.defects.edited_request import with_body
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.loaded_groups import await_all_loaded
from tests.sweep.brokers import client

pytestmark = pytest.mark.rotates(8)

LIMIT_S = 120
DYING = "dying"
MANY = 10


class Forgets(FrameRule):
    """Each group that has neither members nor offsets is deleted before the join with an id that
    it gave, so many times: as by a Kafka up to 3.9 where topics are deleted meanwhile."""

    def __init__(self, broker: BrokerUnderTest, times: int) -> None:
        self._broker, self._times = broker, times
        self.kept: set[str] = set()
        self.forgotten: Counter[str] = Counter()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if isinstance(message, OffsetCommitRequest):
            self.kept.add(message.group_id)
        if isinstance(message, JoinGroupRequest) and message.member_id:
            self._forget(message.group_id)
        return seen.payload

    def _forget(self, group: str) -> None:
        if group not in self.kept and self.forgotten[group] < self._times:
            self.forgotten[group] += 1
            delete_groups(self._broker, [group])

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest) and seen.api is not None:
            _, answer = decode_response(seen.api, seen.version, payload)
            assert isinstance(answer, JoinGroupResponse)
            if answer.error_code == ErrorCode.NONE:
                self.kept.add(seen.message.group_id)
        return [payload]


class GroupsAreDying(FrameRule):
    """A newcomer's first join meets a group that is just being forgotten, so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if not isinstance(message, JoinGroupRequest) or message.member_id or not self.left:
            return seen.payload
        self.left -= 1
        seen.notes[DYING] = True
        message.member_id = "nobody"  # so that the broker gives no id
        return with_body(seen, message)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if DYING not in seen.notes or seen.api is None:
            return [payload]
        correlation_id, answer = decode_response(seen.api, seen.version, payload)
        assert isinstance(answer, JoinGroupResponse)
        answer.error_code, answer.member_id = ErrorCode.COORDINATOR_NOT_AVAILABLE, ""
        return [encode_response(answer, seen.version, correlation_id)]


class LoadsLate(FrameRule):
    """One of the groups that are described is being loaded, so many times."""

    def __init__(self, times: int) -> None:
        self.asked, self._times = 0, times

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, DescribeGroupsRequest) or seen.api is None:
            return [payload]
        self.asked += 1
        correlation_id, answer = decode_response(seen.api, seen.version, payload)
        assert isinstance(answer, DescribeGroupsResponse)
        if self.asked <= self._times:
            answer.groups[-1].error_code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return [encode_response(answer, seen.version, correlation_id)]


@pytest.fixture
def behind(broker_address: str) -> Iterator[BrokerUnderTest]:
    """A client of the broker behind the proxy that forgets its groups; it has a coordinator."""
    host, port = broker_address.split(":")
    with closing(client((host, int(port)), "behind")) as direct:
        direct.ask(FindCoordinatorRequest(key="any"), direct.version("FindCoordinator", "0-3"))
        yield direct


def test_broker_that_deletes_empty_groups_passes_grp_001(
    behind: BrokerUnderTest, tmp_path: Path
) -> None:
    """GRP-001 joins twice, and what it judges is the second join."""
    rule = Forgets(behind, MANY)
    with RunningRelay(behind.address, rule) as relay:
        host, port = relay.address
        words = ["run", "--target", f"external:{host}:{port}", "--out", str(tmp_path)]
        words += ["--requirement", "GRP-001", "--versions", "ends"]
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "harness.cli", *words],
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert rule.forgotten, "no group was forgotten, not even one that was not held"


def test_new_member_requests_new_id_each_time_group_is_deleted(
    behind: BrokerUnderTest,
) -> None:
    rule = Forgets(behind, MANY)
    with (
        RunningRelay(behind.address, rule) as relay,
        closing(client(relay.address, "forgotten")) as asked,
    ):
        group = ClassicGroup(asked)
        (member,) = group.stable(None)
        assert rule.forgotten[group.group_id] == MANY
        assert member.generation == 1


def test_new_member_retries_while_coordinator_is_not_available(behind: BrokerUnderTest) -> None:
    rule = GroupsAreDying(0)
    with (
        RunningRelay(behind.address, rule) as relay,
        closing(client(relay.address, "dying")) as asked,
    ):
        newcomer = ClassicGroup(asked).member()
        rule.left = MANY
        newcomer.be_given_an_id()
        assert rule.left == 0
        assert newcomer.member_id


def test_await_all_loaded_polls_until_loaded_and_only_once(behind: BrokerUnderTest) -> None:
    """A shared broker is looked at until they are, and not again."""
    rule = LoadsLate(MANY)
    with (
        RunningRelay(behind.address, rule) as relay,
        closing(client(relay.address, "loading")) as asked,
    ):
        await_all_loaded(asked)
        assert rule.asked == MANY + 1
        await_all_loaded(asked)
        assert rule.asked == MANY + 1
