"""Links between the nodes of a cluster with TLS and SASL: a node enters by its own credentials."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.base import authorizers
from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    BrokerHeartbeatRequest,
    FindCoordinatorRequest,
)
from harness.reference_broker.cluster.link_security import LinkSecurity, link_security
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.node import Response
from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.security.authority import Authority
from harness.security.secret import Secret
from tests.reference_broker.cluster.test_cluster_of_nodes import running, until, with_topic

PASSWORD = "of-the-nodes"
MAP = "listener.security.protocol.map"
MODULE = (
    f'PlainLoginModule required username="node" password="{PASSWORD}" user_node="{PASSWORD}" '
    'user_client="of-a-client";'
)
TIMEOUT_MS = 5_000


def settings_by(protocol: str, folder: Path) -> dict[str, str]:
    """Of nodes with PLAINTEXT listeners for clients; the nodes alone have rights."""
    authority = Authority()
    authority.write_pem(folder / "ca.pem")
    authority.sign("node").write_pem(folder / "node.pem")
    node = "User:node" if "SASL" in protocol else "User:CN=node"
    return {
        MAP: f"INTERNAL:{protocol},CONTROLLER:{protocol}",
        "sasl.jaas.config": MODULE,
        "ssl.keystore.location": str(folder / "node.pem"),
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.client.auth": "required",
        authorizers.SETTING: authorizers.STANDARD,
        authorizers.SUPER_USERS: f"{node};User:ANONYMOUS",
    }


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_a_cluster_replicates_by_secured_links(protocol: str, tmp_path: Path) -> None:
    """Records with acks=all reach the replicas."""

    async def scenario() -> None:
        async with running(given=settings_by(protocol, tmp_path)) as cluster:
            await with_topic(cluster)
            assert await cluster.produce(0, "value") == (ErrorCode.NONE, 0)
            await until(lambda: all(len(cluster.batches(each, 0)) == 1 for each in (1, 2, 3)))

    asyncio.run(scenario())


def test_a_link_needs_the_credentials_of_a_node(tmp_path: Path) -> None:
    """Without any, with a wrong password, and as a client, which lacks the right of brokers."""
    given = settings_by("SASL_PLAINTEXT", tmp_path)
    wrong = LinkSecurity(None, ("node", Secret("wrong")))
    client = LinkSecurity(None, ("client", Secret("of-a-client")))

    async def scenario() -> None:
        async with running(given=given) as cluster:
            joining = cluster.brokers[1]._joining

            def peer(security: LinkSecurity | None) -> Peer:
                return Peer(lambda: joining.controller, "of-a-test", TIMEOUT_MS, security)

            heartbeat = BrokerHeartbeatRequest(broker_id=1)
            plain = peer(None)
            with pytest.raises(PeerGone):
                await plain.ask(heartbeat, 0)
            with pytest.raises(PeerGone, match="SASL_AUTHENTICATION_FAILED"):
                await peer(wrong).ask(ApiVersionsRequest(), 0)
            of_client = peer(client)
            answer = await of_client.ask(heartbeat, 0)
            assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            of_client.close()

    asyncio.run(scenario())


def test_a_node_without_credentials_is_refused_at_its_start(tmp_path: Path) -> None:
    given = settings_by("SASL_SSL", tmp_path) | {"sasl.jaas.config": ""}
    with pytest.raises(SettingError, match="username and password are missing"):
        link_security(BrokerSettings.of(given), "INTERNAL")
    assert link_security(BrokerSettings.of(given), "PLAINTEXT") is None


def test_a_topic_that_a_client_needs_is_created_by_the_node(tmp_path: Path) -> None:
    """The offsets topic, at the first look for a group: a client needs no right to create it."""
    settings = settings_by("SASL_PLAINTEXT", tmp_path)
    settings[authorizers.SUPER_USERS] = "User:node"
    look = encode_request(FindCoordinatorRequest(coordinator_keys=["a group"]), 4, 1, "c")

    async def scenario() -> None:
        async with running(given=settings) as cluster:
            node = cluster.brokers[1].node
            assert node is not None

            def is_found() -> bool:
                begun = node.begin(look, "127.0.0.1", user="node")
                assert isinstance(begun, Response)
                payload = b"".join(bytes(part) for part in begun.parts or ())
                answer: Any = decode_response(api_of(FindCoordinatorRequest), 4, payload)[1]
                return [one.error_code for one in answer.coordinators] == [ErrorCode.NONE]

            assert not is_found()
            await until(is_found)

    asyncio.run(scenario())
