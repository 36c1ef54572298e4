"""The broker of a cluster that the tests of one broker ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.base.address import Address
from harness.codec.apis import API_VERSIONS_KEY, api_named
from harness.targets.asking import ask_cluster, ask_oldest_cluster
from harness.targets.external_nodes import NOWHERE_ELSE, same_place
from harness.targets.not_answered import NotAnswered

LEADER_AND_ISR = api_named("LeaderAndIsr").key
"""Advertised where one of the brokers is the controller, which alone takes what changes topics."""
TIMEOUT_MS = 10_000


class FirstBroker(NamedTuple):
    """The address of a broker, and its id where there are other brokers, else None."""

    address: Address
    node: int | None


def first_broker(
    addresses: Sequence[Address],
    api_versions: Mapping[int, tuple[int, int]],
    reached: Mapping[Address, Address] = NOWHERE_ELSE,
) -> FirstBroker:
    """Return the broker behind the first address; in a cluster with ZooKeeper, its controller.

    If no broker reports that address (it may be a load balancer's), it is the broker with the
    lowest id, at the address that clients receive, or that ``reached`` has for it. A broker that
    does not return its cluster, or an address where no broker answers, is taken to be alone: the
    tests find out what is wrong with it.
    """
    here = addresses[0]
    ask = ask_cluster if API_VERSIONS_KEY in api_versions else ask_oldest_cluster
    try:
        cluster = ask(here, TIMEOUT_MS)
    except NotAnswered:
        return FirstBroker(here, None)
    if len(cluster.nodes) < 2:
        return FirstBroker(here, None)
    brokers = (reached.get(address, address) for address in cluster.brokers)
    shown = dict(zip(cluster.nodes, brokers, strict=True))
    if LEADER_AND_ISR in api_versions and cluster.controller in shown:
        found = FirstBroker(shown[cluster.controller], cluster.controller)
    else:
        found = _at(here, shown)
    if found.address == here:
        return found
    try:
        ask(found.address, TIMEOUT_MS)
    except NotAnswered:
        return FirstBroker(here, None)
    return found


def _at(here: Address, shown: Mapping[int, Address]) -> FirstBroker:
    for node, there in sorted(shown.items()):
        if same_place(there, here):
            return FirstBroker(here, node)
    lowest = min(shown)
    return FirstBroker(shown[lowest], lowest)
