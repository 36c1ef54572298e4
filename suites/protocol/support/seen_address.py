"""The address of this machine in the eyes of the broker, for entries and quotas about it."""

from __future__ import annotations

from contextlib import closing

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from suites.protocol.support.classic_group import ClassicGroup


def seen_address(broker: BrokerUnderTest) -> str:
    """Return the address from which the broker has the connections of this process.

    A member of a group shows it: with address translation on the way no socket of ours knows it.
    """
    with closing(ClassicGroup(broker)) as group:
        group.stable(None)
        host = only(group.described().members, "member").client_host
    return host.rpartition("/")[2]
