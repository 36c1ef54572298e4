"""Delegation tokens of a cluster: the controller makes them, and every broker has them."""

from __future__ import annotations

import asyncio
from typing import Any

from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import CreateDelegationTokenRequest, ExpireDelegationTokenRequest
from harness.reference_broker.node import Node, Response, WaitingRequest
from tests.reference_broker.cluster.test_cluster_of_nodes import Cluster, running, until

GIVEN = {"delegation.token.secret.key": "the key of a test"}
VERSION = 2
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


async def _forwarded(node: Node, request: Any) -> Any:
    payload = encode_request(request, VERSION, 1, "c")
    begun = node.begin(payload, "127.0.0.1", user="alice", may_ask_for_tokens=True)
    assert isinstance(begun, WaitingRequest), "the controller answers"
    answer = await begun.waiter.result
    assert isinstance(answer, bytes)
    return decode_response(api_of(type(request)), VERSION, answer)[1]


def _nodes(cluster: Cluster) -> list[Node]:
    nodes = [each.node for each in cluster.brokers.values() if each.node]
    assert len(nodes) == 3
    return nodes


def _ids(node: Node) -> list[str]:
    return [token.token_id for token in node.state.delegation_tokens.all()]


def test_every_broker_has_a_token_and_its_secret() -> None:
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)

    async def scenario() -> None:
        async with running(given=GIVEN) as cluster:
            first, *others = _nodes(cluster)
            token = await _forwarded(first, request)
            assert token.error_code == ErrorCode.NONE
            await until(lambda: all(_ids(node) == [token.token_id] for node in (first, *others)))
            for node in others:
                tokens = node.state.delegation_tokens
                assert tokens.hmac_of(token.token_id) == token.hmac
                found = tokens.get(token.token_id)
                assert found is not None
                assert found.owner == "User:alice"
            gone = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
            assert (await _forwarded(others[0], gone)).error_code == ErrorCode.NONE
            await until(lambda: not any(_ids(node) for node in (first, *others)))

    asyncio.run(scenario())


def test_a_broker_itself_refuses_a_client_that_is_no_user() -> None:
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)

    async def scenario() -> None:
        async with running(given=GIVEN) as cluster:
            node = _nodes(cluster)[0]
            begun = node.begin(encode_request(request, VERSION, 1, "c"), "127.0.0.1")
            assert isinstance(begun, Response)
            assert begun.parts is not None
            payload = b"".join(bytes(part) for part in begun.parts)
            answer: Any = decode_response(api_of(CreateDelegationTokenRequest), VERSION, payload)[1]
            assert answer.error_code == NOT_ALLOWED

    asyncio.run(scenario())
