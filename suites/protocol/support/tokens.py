"""Delegation tokens that a test makes, and removes at its end (KIP-48)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import SCRAM, Credentials
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from harness.codec.structs import Message, Request
from harness.conformance.missing_rights import MissingRight, capability_of
from harness.conformance.outcome import NotApplicable
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal
from suites.protocol.support.sasl import credentials_of, enter, shake_hands, unauthenticated

M = TypeVar("M", bound=Message)
TO_SEE_TOKENS = MissingRight("DESCRIBE", "delegation-token", "*")
"""Without it the tokens of others are left out, and no error says so."""
HIDDEN_MS = 5_000
"""A token that a node knows, and does not list for so long, is hidden from the user."""
NEEDED = "a broker with delegation tokens"
MECHANISM = SCRAM[0]
USER = "User"
LONGEST = -1
"""As a life or a period: that of the broker's setting."""
REMOVE = -1
HOUR_MS = 60 * 60 * 1000
FIRST_WITH_OWNER = 3
"""The version of CreateDelegationToken that names an owner (KIP-373)."""
LAST_CHANGE = 2
"""The highest version of RenewDelegationToken and ExpireDelegationToken."""
Created = CreateDelegationTokenResponse
Described = DescribeDelegationTokenResponse.DescribedDelegationToken
Owner = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner
Renewer = CreateDelegationTokenRequest.CreatableRenewers


class TokenClient(Protocol):
    """A connection of some user."""

    def ask(self, message: Request[M], version: int, /) -> M:
        """Return the answer to this user."""
        ...


def require_tokens(broker: BrokerUnderTest) -> Credentials:
    """Return the run's credentials. Raises NotApplicable without SCRAM, or without tokens."""
    credentials = credentials_of(broker, MECHANISM)
    if not broker.advertised("DescribeDelegationToken"):
        raise NotApplicable(NEEDED)
    answer = broker.ask(DescribeDelegationTokenRequest(owners=[]))
    if answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED:
        raise NotApplicable(NEEDED)
    expect_error(answer.error_code, ErrorCode.NONE, "DescribeDelegationToken")
    return credentials


def creation(
    version: int,
    renewers: Sequence[tuple[str, str]] = (),
    life_ms: int = LONGEST,
    owner: str | None = None,
) -> CreateDelegationTokenRequest:
    """Return the request for a token; ``renewers`` are types and names, ``owner`` a user."""
    request = CreateDelegationTokenRequest(
        renewers=[Renewer(principal_type=kind, principal_name=name) for kind, name in renewers],
        max_lifetime_ms=life_ms,
    )
    if version >= FIRST_WITH_OWNER:
        request.owner_principal_type = None if owner is None else USER
        request.owner_principal_name = owner
    return request


@contextmanager
def token_of(
    broker: BrokerUnderTest,
    owner: Principal,
    version: int | None = None,
    renewers: Sequence[Principal] = (),
    life_ms: int = LONGEST,
) -> Iterator[Created]:
    """Make a token that every node knows, and remove it at the end."""
    version = broker.version("CreateDelegationToken") if version is None else version
    named = [(USER, each.name) for each in renewers]
    token = owner.ask(creation(version, named, life_ms), version)
    expect_error(token.error_code, ErrorCode.NONE, f"CreateDelegationToken v{version}")
    await_known(broker, token)
    yield token
    request = ExpireDelegationTokenRequest(hmac=bytes(token.hmac), expiry_time_period_ms=REMOVE)
    owner.ask(request, broker.version("ExpireDelegationToken"))


def await_known(broker: BrokerUnderTest, token: Created) -> None:
    """Wait until the broker, and the node that renews tokens, know a token.

    The user of the run is mostly no renewer, so its renewal changes nothing. Raises NotApplicable
    where that user's rights are not the run's own, and do not show the token of another one.
    """
    owner = Owner(principal_type=USER, principal_name=token.principal_name)
    listed = DescribeDelegationTokenRequest(owners=[owner])

    def is_renewable() -> bool:
        renewal = RenewDelegationTokenRequest(hmac=bytes(token.hmac), renew_period_ms=LONGEST)
        return broker.ask(renewal).error_code != ErrorCode.DELEGATION_TOKEN_NOT_FOUND

    def is_listed() -> bool:
        return token.token_id in {each.token_id for each in broker.ask(listed).tokens}

    broker.eventually(is_renewable, f"the token {token.token_id} is known")
    if broker.user_watch is None:
        broker.eventually(is_listed, f"the token {token.token_id} is listed")
    elif not broker.last_seen(is_listed, bool, HIDDEN_MS):
        raise NotApplicable(capability_of([TO_SEE_TOKENS]))


def renewed(client: TokenClient, secret: bytes, period_ms: int, version: int) -> tuple[int, int]:
    """Return the error code of a renewal, and the expiry time."""
    request = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=period_ms)
    answer = client.ask(request, version)
    return answer.error_code, answer.expiry_timestamp_ms


def expired(client: TokenClient, secret: bytes, period_ms: int, version: int) -> tuple[int, int]:
    """Return the error code of an expiry, and the expiry time."""
    request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=period_ms)
    answer = client.ask(request, version)
    return answer.error_code, answer.expiry_timestamp_ms


def described(
    client: TokenClient, version: int, owners: Sequence[str] | None = None
) -> dict[str, Described]:
    """Return the tokens of these users that a user sees, by id; None: of all."""
    named = None
    if owners is not None:
        named = [Owner(principal_type=USER, principal_name=name) for name in owners]
    answer = client.ask(DescribeDelegationTokenRequest(owners=named), version)
    expect_error(answer.error_code, ErrorCode.NONE, f"DescribeDelegationToken v{version}")
    return {each.token_id: each for each in answer.tokens}


def entered_by(
    broker: BrokerUnderTest,
    credentials: Credentials,
    mechanism: str = MECHANISM,
    version: int | None = None,
) -> tuple[int, int, Connection]:
    """Return the error code of an authentication, the life of the session, and the connection."""
    connection = unauthenticated(broker)
    shake_hands(connection, mechanism)
    version = broker.version("SaslAuthenticate") if version is None else version
    answer = enter(connection, credentials, mechanism, version)
    return answer.error_code, answer.session_lifetime_ms, connection


def password_of(token: Created) -> str:
    """Return the password of a token: its HMAC in base64."""
    return base64.b64encode(bytes(token.hmac)).decode()
