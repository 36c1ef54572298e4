"""Access control lists by requests, at a broker with the authorizer and at one without."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.base import authorizers
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from harness.reference_broker.initial_state import member_state
from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.reference_broker.state.registrations.brokers import Endpoint
from tests.reference_broker.running import Address, running_broker

ON = {authorizers.SETTING: authorizers.STANDARD, "super.users": " User:ANONYMOUS ;User:a"}
ENTRY: dict[str, Any] = {
    "resource_type": 2,
    "resource_name": "t",
    "resource_pattern_type": 3,
    "principal": "User:u",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}
ALL: dict[str, Any] = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
WRONG, UNFORESEEN = ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.fixture(scope="module")
def at() -> Iterator[Address]:
    with running_broker(ON) as address:
        yield address


def ask(address: Address, request: Any, version: int = 3) -> Any:
    with Connection(address) as connection:
        return connection.ask(request, version)


def create(address: Address, *changes: dict[str, Any]) -> list[int]:
    made = [CreateAclsRequest.AclCreation(**{**ENTRY, **each}) for each in changes]
    return [one.error_code for one in ask(address, CreateAclsRequest(creations=made)).results]


def names(address: Address, version: int = 3, **given: Any) -> list[str]:
    answer = ask(address, DescribeAclsRequest(**{**ALL, **given}), version)
    assert answer.error_code == ErrorCode.NONE
    return sorted(resource.resource_name for resource in answer.resources for _ in resource.acls)


def delete(address: Address, *filters: dict[str, Any]) -> list[tuple[int, int]]:
    """The error and the number of removed entries of each filter."""
    made = [DeleteAclsRequest.DeleteAclsFilter(**{**ALL, **each}) for each in filters]
    answer = ask(address, DeleteAclsRequest(filters=made))
    return [(one.error_code, len(one.matching_acls)) for one in answer.filter_results]


def test_entries_are_described_from_creation_to_removal(at: Address) -> None:
    mine = {"principal": "User:kept"}
    prefixed = {**mine, "resource_name": "pre", "resource_pattern_type": 4}
    assert create(at, mine, mine, prefixed) == [0, 0, 0]
    assert create(at, mine) == [0]
    assert names(at, principal_filter="User:kept") == ["pre", "t"]
    filters: dict[str, Any] = {"principal_filter": "User:kept", "resource_name_filter": "prefix"}
    assert names(at, **filters, pattern_type_filter=2) == ["pre"]
    assert names(at, **filters) == []
    theirs: dict[str, Any] = {"principal_filter": "User:kept"}
    assert delete(at, theirs, theirs) == [(0, 2), (0, 2)]
    assert delete(at, theirs) == [(0, 0)]
    assert names(at, **theirs) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"resource_type": 99}, WRONG),
        ({"resource_pattern_type": 9}, WRONG),
        ({"operation": 99}, WRONG),
        ({"permission_type": 9}, WRONG),
        ({"resource_name": ""}, WRONG),
        ({"resource_type": 4}, WRONG),
        ({"principal": "u"}, WRONG),
        ({"host": ""}, WRONG),
        ({"resource_type": 1}, UNFORESEEN),
        ({"resource_pattern_type": 1}, UNFORESEEN),
        ({"resource_pattern_type": 2}, UNFORESEEN),
        ({"operation": 1}, UNFORESEEN),
        ({"permission_type": 1}, UNFORESEEN),
    ],
)
def test_a_wrong_entry_gets_its_error(at: Address, change: dict[str, Any], error: int) -> None:
    """Beside another entry, which is created unless Kafka does not foresee the wrong one."""
    beside = {"principal": "User:beside"}
    others = 0 if error == WRONG else error
    assert create(at, {"principal": "User:wrong", **change}, beside) == [error, others]
    assert names(at, principal_filter="User:wrong") == []
    assert len(names(at, principal_filter="User:beside")) == (error == WRONG)
    delete(at, {"principal_filter": "User:beside"})


@pytest.mark.parametrize(
    "change", [{"resource_type": 0}, {"resource_pattern_type": 0}, {"permission_type": 0}]
)
def test_the_value_unknown_closes_the_connection(at: Address, change: dict[str, Any]) -> None:
    with pytest.raises(ConnectionClosed):
        create(at, change)
    with pytest.raises(ConnectionClosed):
        names(at, operation=0)
    with pytest.raises(ConnectionClosed):
        delete(at, {"operation": 0})


def test_other_numbers_select_nothing_and_remove_nothing(at: Address) -> None:
    assert create(at, {"principal": "User:number"}) == [0]
    for change in ({"operation": 99}, {"resource_type_filter": 99}, {"pattern_type_filter": 9}):
        assert names(at, principal_filter="User:number", **change) == []
        assert delete(at, {"principal_filter": "User:number", **change}) == [(WRONG, 0)]
    assert delete(at, {"principal_filter": "User:number"}) == [(0, 1)]


def test_without_an_authorizer_security_is_disabled() -> None:
    with running_broker() as address:
        disabled = ErrorCode.SECURITY_DISABLED
        assert create(address, {}, {"operation": 1}) == [disabled, disabled]
        assert ask(address, DescribeAclsRequest(**ALL)).error_code == disabled
        assert delete(address, {}, {}) == [(disabled, 0), (disabled, 0)]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({authorizers.SETTING: "Another"}, "this broker has"),
        ({**ON, "super.users": "User:a;b"}, "TYPE:NAME"),
    ],
)
def test_a_wrong_setting_is_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        member_state(BrokerSettings.of(given), Endpoint("h", 1), "cluster")
