"""Removal of access control entries by several filters of one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import Binding, bound, listed, removed_by_each
from suites.protocol.support.rights import require_authorizer

READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE
Removals = list[tuple[int, list[Binding]]]


def _entries(broker: BrokerUnderTest, *operations: int) -> list[Binding]:
    """Return entries of one principal for a topic, one for each operation."""
    name, mine = broker.unique_topic(), f"User:{broker.unique_topic()}"
    return [Binding(name, mine, operation) for operation in operations]


def _expect_left(broker: BrokerUnderTest, principal: str, left: Sequence[Binding]) -> None:
    """Of the principal's entries these must be left soon."""
    found = broker.last_seen(
        lambda: listed(broker, principal=principal), lambda found: found == set(left)
    )
    assert found == set(left), f"left are {found}, expected {left}"


@judges("ACL-017")
@at_versions("DeleteAcls")
def test_delete_acls_answers_each_filter_with_entries_that_it_selects(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Filters of one entry, of none, and of two; two entries that no filter selects stay."""
    require_authorizer(broker)
    read, write, describe = _entries(broker, READ, WRITE, DESCRIBE)
    mine, other = read.principal, f"{read.principal}-other"
    elsewhere = read._replace(name=broker.unique_topic())
    stays = read._replace(principal=other)
    filters: list[dict[str, Any]] = [
        {"principal": mine, "operation": WRITE},
        {"principal": f"{mine}-none"},
        {"principal": mine, "operation": READ},
    ]
    expected: Removals = [(ErrorCode.NONE, each) for each in ([write], [], [read, elsewhere])]
    with bound(broker, read, write, describe, elsewhere, stays), requirement("ACL-017"):
        found = removed_by_each(broker, filters, api_version)
        _expect_results(found, expected)
        _expect_left(broker, mine, [describe])
        _expect_left(broker, other, [stays])


@judges("ACL-018")
@at_versions("DeleteAcls")
def test_delete_acls_names_entry_for_each_filter_that_selects_it(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By one filter, by a wider one, and by one that is wrong: that one alone has an error."""
    require_authorizer(broker)
    read, write = _entries(broker, READ, WRITE)
    mine = read.principal
    filters: list[dict[str, Any]] = [
        {"principal": mine, "operation": WRITE},
        {"principal": mine},
        {"principal": mine, "operation": 99},
        {"principal": mine, "operation": READ},
    ]
    none = ErrorCode.NONE
    expected: Removals = [
        (none, [write]),
        (none, [read, write]),
        (ErrorCode.INVALID_REQUEST, []),
        (none, [read]),
    ]
    with bound(broker, read, write), requirement("ACL-018"):
        _expect_results(removed_by_each(broker, filters, api_version), expected)
        _expect_left(broker, mine, [])


def _expect_results(found: Removals, expected: Removals) -> None:
    """The results must come in the order of the filters; entries of one in any order."""
    told = [(int(code), sorted(each)) for code, each in found]
    wanted = [(int(code), sorted(each)) for code, each in expected]
    assert told == wanted, f"the results are {told}, expected {wanted}"
