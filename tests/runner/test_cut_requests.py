"""A request that a proxy cuts: the broker's time to close begins when the proxy has cut it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.messages import ApiVersionsRequest
from harness.proxies.rules import RuleDidNotFire
from suites.protocol.support.cut_requests import send_cut

LATE = 3
PATIENCE = 50


class SlowPath(Mock):
    """Its rule has fired when it was asked about so often."""

    def has_fired(self, *_ids: str) -> bool:
        self.asked += 1
        return bool(self.asked > self.late)

    def expect_fired(self, *_ids: str) -> None:
        if self.asked <= self.late:
            raise RuleDidNotFire("not yet")


def broker() -> Mock:
    """Its connections note how often the path was asked before the close was awaited."""
    made = Mock(spec=BrokerUnderTest)

    def last_seen(ask: Mock, is_right: Mock) -> bool:
        return any(is_right(ask()) for _ in range(PATIENCE))

    made.last_seen.side_effect = last_seen
    return made


def test_send_cut_awaits_close_after_rule_has_fired() -> None:
    path, asked = SlowPath(asked=0, late=LATE), broker()
    asked.connect.return_value.expect_closed.side_effect = lambda: seen.append(path.asked)
    seen: list[int] = []
    send_cut(asked, path, ApiVersionsRequest(), 0, "cut", [5])
    assert len(seen) == 1
    assert seen[0] > LATE


def test_send_cut_with_unfired_rule_raises_rule_did_not_fire() -> None:
    path, asked = SlowPath(asked=0, late=10 * PATIENCE), broker()
    with pytest.raises(RuleDidNotFire):
        send_cut(asked, path, ApiVersionsRequest(), 0, "cut", [5])
    asked.connect.return_value.expect_closed.assert_not_called()
