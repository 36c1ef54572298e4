"""Redirected connections of a broker in a cluster."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from harness.base.ids import BrokerId
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.command import broker
from harness.reference_broker.state.registrations.brokers import Endpoint


def test_way_redirects_only_its_own_address() -> None:
    told, instead, other = (Endpoint("127.0.0.1", port) for port in (1, 2, 3))
    member = NodeMembership(BrokerId(1), "c", told, {}, ways={told: instead}, directories=[])
    assert (member.way_to(told), member.way_to(other)) == (instead, other)


@pytest.mark.parametrize("way", ["127.0.0.1:1", "127.0.0.1:1=", "a=b", "127.0.0.1:1=127.0.0.1"])
def test_broker_command_refuses_way_without_two_addresses(way: str) -> None:
    words = ["--join", "127.0.0.1:1", "--cluster-id", "c", "--way", way]
    ended = CliRunner().invoke(broker, words)
    assert ended.exit_code == 2
    assert "--way takes HOST:PORT" in ended.output
