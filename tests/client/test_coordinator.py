"""Names of groups that the broker under test coordinates, by what scripted ones answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, Coordinator, ask_for_coordinator
from harness.client.errors import ApiNotAdvertised
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse
from tests.client.scripted import Peer, scripted

FIND_COORDINATOR = 10
Told = FindCoordinatorResponse.Coordinator


def asked_for(answers: Sequence[Coordinator], version: int, node: int) -> tuple[str, int]:
    """The name that is found where these are the answers, and how many were needed."""
    asked: list[FindCoordinatorRequest] = []

    def script(peer: Peer) -> None:
        for code, coordinator, *_ in answers:
            correlation_id, request = peer.read_request()
            assert isinstance(request, FindCoordinatorRequest)
            asked.append(request)
            key = request.coordinator_keys[0] if version >= 4 else request.key
            one = Told(key=key, node_id=coordinator, error_code=code)
            answer = FindCoordinatorResponse(coordinators=[one])
            if version < 4:
                answer = FindCoordinatorResponse(node_id=coordinator, error_code=code)
            peer.answer(answer, version, correlation_id)
        peer.read_to_end()

    with scripted(script) as address:
        served = {FIND_COORDINATOR: (0, version)}
        client = BrokerUnderTest([address], served, name_prefix="p", node=node)
        name = client.unique_group()
        client.close()
    return name, len(asked)


@pytest.mark.parametrize("version", [0, 3, 4])
def test_unique_group_tries_names_until_broker_is_coordinator(version: int) -> None:
    not_yet = Coordinator(ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)
    answers = [not_yet, Coordinator(0, 2), Coordinator(0, 3), Coordinator(0, 1)]
    assert asked_for(answers, version, node=1) == ("p-3", 4)


def test_unique_group_of_single_broker_sends_no_request() -> None:
    alone = BrokerUnderTest([("127.0.0.1", 1)], {FIND_COORDINATOR: (0, 4)}, name_prefix="p")
    assert alone.unique_group() == "p-1"


def test_transaction_coordinator_needs_find_coordinator_version_1() -> None:
    client = BrokerUnderTest([("127.0.0.1", 1)], {FIND_COORDINATOR: (0, 0)})
    with pytest.raises(ApiNotAdvertised, match=r"FindCoordinator 1\+"):
        ask_for_coordinator(client, "key", TRANSACTION)
