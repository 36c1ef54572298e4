"""Requests of the permission matrix about delegation tokens."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.codec.messages import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.sasl import credentials_of
from suites.protocol.support.tokens import (
    LONGEST,
    REMOVE,
    creation,
    described,
    expired,
    require_tokens,
)

OWN_LIFE_MS = 60_000


def _prepare(scene: Scene) -> None:
    require_tokens(scene.broker)
    scene.at_end(lambda: _remove_all(scene))


def _remove_all(scene: Scene) -> None:
    """Remove the tokens that the user has made, as their owners."""
    listing = scene.broker.version("DescribeDelegationToken")
    change = scene.broker.version("ExpireDelegationToken")
    for client in (scene.user, scene.broker):
        for token in described(client, listing).values():
            if scene.user.name in (token.principal_name, token.token_requester_principal_name):
                expired(client, bytes(token.hmac), REMOVE, change)


def _with_token(scene: Scene) -> None:
    require_tokens(scene.broker)
    assert scene.token, "a token is made"


def _create(_: Scene, version: int) -> CreateDelegationTokenRequest:
    return creation(version, life_ms=OWN_LIFE_MS)


def _create_for_another(scene: Scene, version: int) -> CreateDelegationTokenRequest:
    return creation(version, owner=credentials_of(scene.broker).user)


def _renew(scene: Scene, _: int) -> RenewDelegationTokenRequest:
    return RenewDelegationTokenRequest(hmac=bytes(scene.token.hmac), renew_period_ms=LONGEST)


def _expire(scene: Scene, _: int) -> ExpireDelegationTokenRequest:
    return ExpireDelegationTokenRequest(hmac=bytes(scene.token.hmac), expiry_time_period_ms=REMOVE)


def _describe(_: Scene, __: int) -> DescribeDelegationTokenRequest:
    return DescribeDelegationTokenRequest(owners=None)


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "CreateDelegationToken": Asked(_create, _prepare, secret="hmac"),
        "CreateDelegationToken/another owner": Asked(_create_for_another, _prepare, secret="hmac"),
        "RenewDelegationToken": Asked(_renew, _with_token),
        "ExpireDelegationToken": Asked(_expire, _with_token),
        "DescribeDelegationToken": Asked(_describe, _with_token, secret="tokens.hmac"),
    }
)
"""By the form of the row."""
