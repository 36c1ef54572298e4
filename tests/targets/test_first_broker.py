"""Choice of a cluster's first broker, by the Metadata of scripted ones."""

from __future__ import annotations

import pytest

from harness.base.address import Address
from harness.codec.frame import frame
from harness.codec.messages import ApiVersionsResponse, MetadataResponse
from harness.targets.first_broker import LEADER_AND_ISR, FirstBroker, first_broker
from tests.client.scripted import Peer, scripted
from tests.targets.wrong_brokers import listening, right

API_VERSIONS, METADATA = 18, 3
KRAFT = {METADATA: (0, 13), API_VERSIONS: (0, 4)}
ZOOKEEPER = {**KRAFT, LEADER_AND_ISR: (0, 7)}
UNREACHABLE = Address("127.0.0.1", 1)
OTHER, THIRD = Address("10.0.0.2", 9092), Address("10.0.0.3", 9092)


def door_of(
    shown: dict[int, Address | None], served: dict[int, tuple[int, int]], controller: int = -1
) -> tuple[FirstBroker, Address]:
    """The broker found, and the address of the scripted one.

    ``shown``: the brokers in its Metadata; None stands for its own address.
    """

    def script(peer: Peer) -> None:
        key = ApiVersionsResponse.ApiVersion(api_key=METADATA, min_version=0, max_version=9)
        peer.answer(ApiVersionsResponse(api_keys=[key]), 0, peer.read_request()[0])
        brokers = [
            MetadataResponse.MetadataResponseBroker(
                node_id=node, host=(at or here).host, port=(at or here).port
            )
            for node, at in shown.items()
        ]
        told = MetadataResponse(brokers=brokers, controller_id=controller)
        peer.answer(told, 2, peer.read_request()[0])
        peer.read_to_end()

    with scripted(script) as address:
        here = Address(*address)
        with listening(lambda payload: frame(right(payload))) as there:
            reached = {OTHER: there, THIRD: there._replace(host="localhost")}
            return first_broker([here, OTHER], served, reached), here


def test_single_broker_is_chosen_without_id() -> None:
    found, here = door_of({1: None}, KRAFT)
    assert found == (here, None)


@pytest.mark.parametrize("own", [1, 2, 3])
def test_broker_at_given_address_is_chosen(own: int) -> None:
    shown: dict[int, Address | None] = {1: OTHER, 2: OTHER, 3: THIRD, own: None}
    found, here = door_of(shown, KRAFT, controller=1)
    assert found == (here, own)


def test_controller_is_chosen_with_zookeeper() -> None:
    found, _ = door_of({1: None, 2: OTHER, 3: THIRD}, ZOOKEEPER, controller=3)
    assert (found.address.host, found.node) == ("localhost", 3)


def test_broker_at_given_address_is_chosen_without_controller() -> None:
    found, here = door_of({1: OTHER, 2: None}, ZOOKEEPER, controller=-1)
    assert found == (here, 2)


def test_lowest_id_is_chosen_behind_load_balancer() -> None:
    found, _ = door_of({7: THIRD, 4: OTHER}, KRAFT)
    assert (found.address.host, found.node) == ("127.0.0.1", 4)


def test_unreachable_broker_is_not_chosen() -> None:
    """The tests then see the first address alone, and find out what is wrong."""
    found, here = door_of({7: UNREACHABLE, 4: UNREACHABLE}, KRAFT)
    assert found == (here, None)


def test_unreachable_first_address_is_returned_without_id() -> None:
    nowhere = Address("127.0.0.1", 1)
    assert first_broker([nowhere, OTHER], KRAFT) == (nowhere, None)
