"""Delegation tokens by requests of users, at a node without sockets."""

from __future__ import annotations

import hashlib
import hmac
import random
from typing import Any

import pytest

from harness.base.authorizers import SETTING, STANDARD
from harness.base.ids import TimeMs
from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from harness.reference_broker.node import Node, Response
from harness.reference_broker.node_upkeep import token_expiry
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.acls.acl import AclOperation, AclResource
from harness.reference_broker.state.metadata.metadata_fold import MetadataFold
from harness.reference_broker.state.metadata.snapshot_removals import removals
from tests.reference_broker.test_authorization import give

KEY = "the key of a test"
LIFE_MS, RENEWAL_MS, LONG_MS = 10_000_000, 1_000_000, 5_000_000
GIVEN = {
    SETTING: STANDARD,
    "delegation.token.secret.key": KEY,
    "delegation.token.max.lifetime.ms": str(LIFE_MS),
    "delegation.token.expiry.time.ms": str(RENEWAL_MS),
}
NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.DELEGATION_TOKEN_NOT_FOUND
MISMATCH = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
EXPIRED = ErrorCode.DELEGATION_TOKEN_EXPIRED
DISABLED = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
Owner = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner
Renewer = CreateDelegationTokenRequest.CreatableRenewers
FROM_LONG_AGO = 1


def made_node(like: str = "", **changed: str) -> Node:
    given = {**GIVEN, **{name.replace("_", "."): value for name, value in changed.items()}}
    return Node(BrokerSettings.of(given, like), "localhost", 9092, random.Random(1))


@pytest.fixture
def node() -> Node:
    return made_node()


def ask(
    node: Node, request: Any, user: str = "alice", version: int = 2, *, may: bool = True
) -> Any:
    payload = encode_request(request, version, 1, "c")
    begun = node.begin(payload, "10.0.0.1", user=user, may_ask_for_tokens=may)
    assert isinstance(begun, Response)
    assert begun.parts is not None
    answered = b"".join(bytes(part) for part in begun.parts)
    return decode_response(api_of(type(request)), version, answered)[1]


def create(node: Node, life_ms: int = -1, *renewers: str, owner: str | None = None) -> Any:
    made = [Renewer(principal_type="User", principal_name=name) for name in renewers]
    request = CreateDelegationTokenRequest(renewers=made, max_lifetime_ms=life_ms)
    request.owner_principal_type = None if owner is None else "User"
    request.owner_principal_name = owner
    return ask(node, request, version=3)


def renew(node: Node, secret: bytes, period_ms: int, user: str = "alice") -> tuple[int, int]:
    request = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=period_ms)
    answer = ask(node, request, user)
    return answer.error_code, answer.expiry_timestamp_ms


def expire(node: Node, secret: bytes, period_ms: int, user: str = "alice") -> tuple[int, int]:
    request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=period_ms)
    answer = ask(node, request, user)
    return answer.error_code, answer.expiry_timestamp_ms


def ids(node: Node, user: str = "alice", *owners: str) -> list[str]:
    named = [Owner(principal_type="User", principal_name=name) for name in owners] or None
    answer = ask(node, DescribeDelegationTokenRequest(owners=named), user)
    assert answer.error_code == NONE
    return [one.token_id for one in answer.tokens]


def test_the_secret_of_a_token_is_the_hmac_of_its_id(node: Node) -> None:
    token = create(node)
    assert token.hmac == hmac.digest(KEY.encode(), token.token_id.encode(), hashlib.sha512)
    assert len(token.token_id) == 22


@pytest.mark.parametrize(
    ("wanted_ms", "life_ms"),
    [(-1, LIFE_MS), (0, LIFE_MS), (1, 1), (LIFE_MS, LIFE_MS), (LIFE_MS + 1, LIFE_MS)],
)
def test_a_life_is_the_wanted_one_up_to_the_longest(
    node: Node, wanted_ms: int, life_ms: int
) -> None:
    token = create(node, wanted_ms)
    assert token.max_timestamp_ms - token.issue_timestamp_ms == life_ms
    assert token.expiry_timestamp_ms - token.issue_timestamp_ms == min(life_ms, RENEWAL_MS)


@pytest.mark.parametrize("may", [True, False])
def test_without_a_key_or_without_a_user_each_request_is_refused(*, may: bool) -> None:
    """The times beside an error are those of the controller, or of the broker."""
    for like, at in (("", 0), ("2.8.2", -1)):
        node = made_node(like, delegation_token_secret_key="")
        expected = (DISABLED, at) if may else (NOT_ALLOWED, -1)
        request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
        created = ask(node, request, may=may)
        assert (created.error_code, created.max_timestamp_ms) == expected
        for change in (RenewDelegationTokenRequest(), ExpireDelegationTokenRequest()):
            answer = ask(node, change, may=may)
            assert (answer.error_code, answer.expiry_timestamp_ms) == expected
        listed = ask(node, DescribeDelegationTokenRequest(owners=None), may=may)
        assert (listed.error_code, listed.tokens) == (expected[0], [])


@pytest.mark.parametrize(
    ("like", "period_ms", "added_ms"),
    [
        ("", 0, RENEWAL_MS),
        ("", -1, RENEWAL_MS),
        ("", 1, 1),
        ("", RENEWAL_MS + 1, RENEWAL_MS),
        ("2.8.2", 0, 0),
        ("2.8.2", -1, RENEWAL_MS),
        ("2.8.2", RENEWAL_MS + 1, RENEWAL_MS + 1),
        ("2.8.2", 2 * LIFE_MS, LIFE_MS),
    ],
)
def test_a_renewal_is_for_its_period_as_the_release_limits_it(
    like: str, period_ms: int, added_ms: int
) -> None:
    node = made_node(like)
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    token = ask(node, request)
    code, expires = renew(node, token.hmac, period_ms)
    assert code == NONE
    most = 60_000 if added_ms < LIFE_MS else 0
    assert 0 <= expires - token.issue_timestamp_ms - added_ms <= most


def test_changes_are_refused_in_the_order_of_kafka(node: Node) -> None:
    token = create(node, LONG_MS, "bob")
    old = create(node, 1, "bob")
    make_old(node, old.token_id)
    for change in (renew, expire):
        assert change(node, b"none", 1) == (NOT_FOUND, 0)
        assert change(node, token.hmac, RENEWAL_MS, "carol") == (MISMATCH, 0)
        assert change(node, old.hmac, RENEWAL_MS, "bob") == (EXPIRED, 0)
        assert change(node, token.hmac, RENEWAL_MS, "bob")[0] == NONE
    assert renew(node, old.hmac, RENEWAL_MS, "carol") == (EXPIRED, 0)
    assert expire(node, old.hmac, RENEWAL_MS, "carol") == (MISMATCH, 0)


@pytest.mark.parametrize(("like", "code"), [("", NONE), ("3.9.2", NONE), ("2.8.2", EXPIRED)])
def test_an_expired_token_can_be_removed_since_3_5(like: str, code: ErrorCode) -> None:
    node = made_node(like)
    old = ask(node, CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=1))
    make_old(node, old.token_id)
    assert expire(node, old.hmac, -1)[0] == code
    assert ids(node) == ([old.token_id] if code else [])


def make_old(node: Node, token_id: str) -> None:
    token = node.state.delegation_tokens.get(token_id)
    assert token is not None
    node.state.change_metadata([token.expiring(FROM_LONG_AGO).as_record()], TimeMs(0))


def test_a_removed_token_is_unknown(node: Node) -> None:
    token, kept = create(node), create(node)
    assert expire(node, token.hmac, -1)[0] == NONE
    assert ids(node) == [kept.token_id]
    assert renew(node, token.hmac, 1) == (NOT_FOUND, 0)


def test_a_user_sees_its_tokens_and_those_that_it_may_describe(node: Node) -> None:
    own, shared = create(node), create(node, -1, "bob")
    assert ids(node) == [own.token_id, shared.token_id]
    assert ids(node, "bob") == [shared.token_id]
    assert ids(node, "bob", "alice") == ids(node, "alice", "bob") == [shared.token_id]
    assert ids(node, "carol") == []
    empty = ask(node, DescribeDelegationTokenRequest(owners=[]))
    assert empty.tokens == []


@pytest.mark.parametrize(
    ("operation", "resource", "sees"),
    [
        (AclOperation.DESCRIBE_TOKENS, AclResource.USER, True),
        (AclOperation.CREATE_TOKENS, AclResource.USER, False),
        (AclOperation.DESCRIBE, AclResource.DELEGATION_TOKEN, True),
        (AclOperation.DESCRIBE, AclResource.USER, False),
    ],
)
def test_a_right_to_the_token_or_its_owner_shows_it(
    node: Node, operation: int, resource: int, *, sees: bool
) -> None:
    request = CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    token = ask(node, request, "bob")
    name = token.token_id if resource == AclResource.DELEGATION_TOKEN else "User:bob"
    give(node, (operation, resource, name))
    assert ids(node) == [token.token_id] * sees


def test_a_token_of_another_owner_needs_the_right(node: Node) -> None:
    refused = create(node, owner="bob")
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    give(node, (AclOperation.CREATE_TOKENS, AclResource.USER, "User:bob"))
    token = create(node, owner="bob")
    assert (token.principal_name, token.token_requester_principal_name) == ("bob", "alice")
    assert ids(node, "bob") == [token.token_id]
    assert create(node, owner="alice").error_code == NONE


def test_a_renewer_is_a_user(node: Node) -> None:
    wrong = Renewer(principal_type="Group", principal_name="g")
    for given in (node, made_node(delegation_token_secret_key="")):
        answer = ask(given, CreateDelegationTokenRequest(renewers=[wrong], max_lifetime_ms=1))
        assert answer.error_code == ErrorCode.INVALID_PRINCIPAL_TYPE


def test_the_check_removes_expired_tokens_alone(node: Node) -> None:
    kept, old = create(node), create(node)
    make_old(node, old.token_id)
    settings = BrokerSettings.of(GIVEN)
    for _ in token_expiry(node.state, settings, node.carry_out)._steps():
        pass
    assert ids(node) == [kept.token_id]


def test_a_snapshot_without_a_token_removes_it(node: Node) -> None:
    token = create(node)
    before, without = MetadataFold(), MetadataFold()
    kept = node.state.delegation_tokens.get(token.token_id)
    assert kept is not None
    before.take([kept.as_record()])
    assert before.records() == [kept.as_record()]
    node.state.change_metadata(removals(before, without), TimeMs(0))
    assert ids(node) == []
