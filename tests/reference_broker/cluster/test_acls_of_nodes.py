"""Access control lists of a cluster: every broker has them, and a restart keeps them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    CreateAclsRequest,
    CreateTopicsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
)
from harness.reference_broker.node import WaitingRequest
from tests.reference_broker.cluster.test_cluster_of_nodes import running, until
from tests.reference_broker.cluster.test_combined_node import ask, node
from tests.reference_broker.test_acl_requests import ALL, ENTRY, ON


def _create(principal: str) -> CreateAclsRequest:
    made = CreateAclsRequest.AclCreation(**{**ENTRY, "principal": principal})
    return CreateAclsRequest(creations=[made])


def _principals(answer: Any) -> list[str]:
    assert answer.error_code == ErrorCode.NONE
    return sorted(acl.principal for resource in answer.resources for acl in resource.acls)


def test_every_broker_has_the_entries() -> None:
    async def scenario() -> None:
        async with running(given=ON) as cluster:
            (created,) = (await cluster.ask(1, _create("User:u"), 3)).results
            assert created.error_code == ErrorCode.NONE
            states = [each.node.state for each in cluster.brokers.values() if each.node]
            assert len(states) == 3
            await until(lambda: all(len(state.acls) == 1 for state in states))
            for number in cluster.brokers:
                answer = await cluster.ask(number, DescribeAclsRequest(**ALL), 3)
                assert _principals(answer) == ["User:u"]
            gone = DeleteAclsRequest.DeleteAclsFilter(**ALL)
            (removed,) = (await cluster.ask(2, DeleteAclsRequest(filters=[gone]), 3)).filter_results
            assert len(removed.matching_acls) == 1
            await until(lambda: not any(len(state.acls) for state in states))

    asyncio.run(scenario())


def test_the_controller_decides_with_the_rights_of_the_brokers_client() -> None:
    """A topic of a user without rights is refused, and one of a super user is created."""
    topic = CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    payload = encode_request(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7, 1, "c")

    async def scenario() -> None:
        async with running(given=ON) as cluster:
            node = cluster.brokers[1].node
            assert node is not None
            for user, error in {
                "stranger": ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                "a": ErrorCode.NONE,
            }.items():
                begun = node.begin(payload, "127.0.0.1", user=user)
                assert isinstance(begun, WaitingRequest)
                answer = await begun.waiter.result
                assert isinstance(answer, bytes)
                decoded: Any = decode_response(api_of(CreateTopicsRequest), 7, answer)[1]
                assert [one.error_code for one in decoded.topics] == [error]

    asyncio.run(scenario())


def test_a_restart_keeps_the_entries(tmp_path: Path) -> None:
    words = ["--controller-port", "0"]
    words += [word for name, value in ON.items() for word in ("--setting", f"{name}={value}")]
    for principals in (["User:a"], ["User:a", "User:b"]):
        with node(tmp_path, 1, *words) as (_, port, _):
            assert _principals(ask(port, DescribeAclsRequest(**ALL), 3)) == principals[:-1]
            ask(port, _create(principals[-1]), 3)
            assert _principals(ask(port, DescribeAclsRequest(**ALL), 3)) == principals
