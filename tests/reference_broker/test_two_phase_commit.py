"""InitProducerId 6, which only a broker with unstable.api.versions.enable serves (KIP-939)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.transactions.transaction import NO_TIMEOUT_MS
from tests.reference_broker.running import running_broker
from tests.reference_broker.test_edge_values_of_transactions import answered

UNSTABLE, TWO_PHASE = "unstable.api.versions.enable", "transaction.two.phase.commit.enable"
LONGEST_MS = 900_000  # transaction.max.timeout.ms
NONE, TIMEOUT = ErrorCode.NONE, ErrorCode.INVALID_TRANSACTION_TIMEOUT
NOT_ALLOWED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@contextmanager
def broker(allowed: str) -> Iterator[Connection]:
    """A connection to a broker with unstable versions that coordinates transactions."""
    settings = {UNSTABLE: "true", TWO_PHASE: allowed}
    with running_broker(settings) as address, Connection(address) as connection:
        answered(connection, "FindCoordinator", 1, {"key": "k", "key_type": 1})
        yield connection


def initialized(connection: Connection, **fields: Any) -> Any:
    asked = {"transactional_id": "id", "transaction_timeout_ms": LONGEST_MS, **fields}
    wanted = {"producer_id": -1, "producer_epoch": -1, **asked}
    return answered(connection, "InitProducerId", 6, wanted)


@pytest.mark.parametrize(
    ("like", "given", "highest"),
    [("", "true", 6), ("4.4.0", "true", 6), ("4.4.0", "false", 5), ("3.9.2", "true", 5)],
)
def test_version_6_is_advertised_with_unstable_versions_since_4_1(
    like: str, given: str, highest: int
) -> None:
    with running_broker({UNSTABLE: given}, like=like) as address, Connection(address) as connection:
        answer = answered(connection, "ApiVersions", 0, {})
        highest_of = {one["api_key"]: one["max_version"] for one in answer["api_keys"]}
        assert highest_of[22] == highest


def test_version_6_without_unstable_versions_closes_the_connection() -> None:
    with running_broker() as address, Connection(address) as connection:
        with pytest.raises(ConnectionClosed):
            initialized(connection)


@pytest.mark.parametrize(
    ("allowed", "asked", "code"),
    [
        ("false", {}, NONE),
        ("false", {"transaction_timeout_ms": LONGEST_MS + 1}, TIMEOUT),
        ("false", {"enable2_pc": True}, NOT_ALLOWED),
        ("false", {"enable2_pc": True, "keep_prepared_txn": True}, NOT_ALLOWED),
        ("false", {"keep_prepared_txn": True}, ErrorCode.UNSUPPORTED_VERSION),
        ("false", {"enable2_pc": True, "transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ("false", {"enable2_pc": True, "transactional_id": None}, NONE),
        ("true", {"transaction_timeout_ms": 0}, TIMEOUT),
        ("true", {"enable2_pc": True, "transaction_timeout_ms": -1}, NONE),
        ("true", {"enable2_pc": True, "keep_prepared_txn": True}, ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_two_phase_commit_is_taken_where_the_broker_allows_it(
    allowed: str, asked: dict[str, Any], code: int
) -> None:
    """As Kafka 4.4.0 and 4.1.2."""
    with broker(allowed) as connection:
        answer = initialized(connection, **asked)
    assert answer["error_code"] == code
    assert (answer["producer_id"] >= 0) is (code == NONE)
    assert answer["ongoing_txn_producer_id"] == answer["ongoing_txn_producer_epoch"] == -1


def test_producer_with_two_phase_commit_has_the_longest_timeout() -> None:
    with broker("true") as connection:
        timeouts = []
        for two_phase in (True, False):
            assert initialized(connection, enable2_pc=two_phase)["error_code"] == NONE
            shown = answered(connection, "DescribeTransactions", 0, {"transactional_ids": ["id"]})
            timeouts.append(shown["transaction_states"][0]["transaction_timeout_ms"])
    assert timeouts == [NO_TIMEOUT_MS, LONGEST_MS]
