"""Access control lists: their creation, description and removal, and their errors."""

from __future__ import annotations

from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
)
from harness.conformance.checks import requirement
from harness.conformance.outcome import NotApplicable
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import LITERAL, Operation, Resource
from suites.protocol.support.bindings import (
    DENY,
    MATCH,
    PREFIXED,
    WILDCARD,
    Binding,
    bound,
    create,
    creation,
    listed,
    removed,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.rights import require_authorizer

PATTERNS_SINCE = 1
"""Before this version all patterns are literal."""


def filters(mine: str, name: str, version: int) -> dict[str, tuple[dict[str, Any], set[str]]]:
    """Each filter, with the names of the entries that it selects."""
    every = {name, WILDCARD} if version < PATTERNS_SINCE else {name, name[:-2], WILDCARD}
    found: dict[str, tuple[dict[str, Any], set[str]]] = {
        "the principal": ({}, every),
        "another principal": ({"principal": f"{mine}-none"}, set()),
        "the name, literal": ({"name": name, "pattern": LITERAL}, {name}),
        "another type": ({"resource": Resource.GROUP}, set()),
        "the operation": ({"operation": Operation.WRITE}, {name}),
        "the permission": ({"permission": DENY}, {WILDCARD}),
        "another host": ({"host": "10.1.2.3"}, set()),
    }
    if version >= PATTERNS_SINCE:
        found["what applies to the name"] = ({"name": name, "pattern": MATCH}, every)
        found["prefixes"] = ({"pattern": PREFIXED}, {name[:-2]})
        found["the name of any pattern"] = ({"name": name}, {name})
    return {what: ({"principal": mine, **wanted}, names) for what, (wanted, names) in found.items()}


@judges("ACL-001")
@at_versions("DescribeAcls")
def test_entries_are_described_by_filters_from_creation_to_removal(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The removal returns what it removes; twice the same entry is one entry."""
    require_authorizer(broker)
    name, mine = broker.unique_topic(), f"User:{broker.unique_topic()}"
    entries = [
        Binding(name, mine, Operation.READ),
        Binding(name, mine, Operation.WRITE),
        Binding(WILDCARD, mine, Operation.READ, DENY),
    ]
    if api_version >= PATTERNS_SINCE:
        entries.append(Binding(name[:-2], mine, Operation.READ, pattern=PREFIXED))
    with requirement("ACL-001") as check:
        codes = create(broker, [*entries, entries[0]], api_version)
        assert codes == [ErrorCode.NONE] * (len(entries) + 1), f"the codes are {codes}"
        broker.eventually(
            lambda: len(listed(broker, principal=mine)) == len(entries), "the entries are described"
        )
        found = listed(broker, api_version, principal=mine)
        assert found == set(entries), f"the list lacks {set(entries) - found}"
        for what, (wanted, names) in filters(mine, name, api_version).items():
            with check.subtest(what):
                found = listed(broker, api_version, **wanted)
                assert {each.name for each in found} == names, f"{what}: {found} are selected"
        one = {"principal": mine, "operation": Operation.WRITE}
        assert removed(broker, api_version, **one) == [entries[1]], "the removal of one"
        rest = removed(broker, api_version, principal=mine)
        assert sorted(rest) == sorted({*entries} - {entries[1]}), f"the removal returns {rest}"
        broker.eventually(lambda: not listed(broker, principal=mine), "the entries are gone")
        assert removed(broker, api_version, principal=mine) == [], "a second removal"


@judges("ACL-002")
@at_versions("CreateAcls", "1+")
def test_a_wrong_entry_is_refused_beside_a_right_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_authorizer(broker)
    name, mine = broker.unique_topic(), f"User:{broker.unique_topic()}"
    right = Binding(name, mine)
    cluster = Resource.CLUSTER
    cases = {
        "a type that does not exist": right._replace(resource=99),
        "a pattern that does not exist": right._replace(pattern=99),
        "an operation that does not exist": right._replace(operation=99),
        "a permission that does not exist": right._replace(permission=99),
        "an empty name": right._replace(name=""),
        "another name of the cluster": right._replace(resource=cluster),
    }
    with requirement("ACL-002") as check:
        for what, wrong in cases.items():
            with check.subtest(what):
                other = right._replace(principal=f"{mine}-wrong")
                codes = create(broker, [wrong._replace(principal=other.principal)], api_version)
                expect_error(codes[0], ErrorCode.INVALID_REQUEST, what)
                assert not listed(broker, principal=other.principal), f"{what}: it is there"
        with check.subtest("beside a right one"), bound(broker, right):
            again = right._replace(operation=Operation.WRITE)
            codes = create(broker, [cases["an empty name"], again], api_version)
            expect_error(codes[0], ErrorCode.INVALID_REQUEST, "the wrong one")
            expect_error(codes[1], ErrorCode.NONE, "the right one")
            broker.eventually(
                lambda: listed(broker, principal=mine) == {right, again}, "both right ones"
            )


@judges("ACL-003")
@at_versions("DescribeAcls")
def test_without_an_authorizer_security_is_disabled(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """At the top of DescribeAcls, and in each result of the others."""
    entry = Binding("t", "User:nobody")
    every = DescribeAclsRequest(
        resource_type_filter=1, pattern_type_filter=LITERAL, operation=1, permission_type=1,
        resource_name_filter=None, principal_filter=None, host_filter=None,
    )  # fmt: skip
    removal = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=1, pattern_type_filter=LITERAL, operation=1, permission_type=1,
        resource_name_filter="t", principal_filter=entry.principal, host_filter=None,
    )  # fmt: skip
    described = broker.ask(every, api_version)
    if described.error_code == ErrorCode.NONE:
        raise NotApplicable("a broker without an authorizer")
    disabled = ErrorCode.SECURITY_DISABLED
    with requirement("ACL-003") as check:
        with check.subtest("DescribeAcls"):
            expect_error(described.error_code, disabled, "DescribeAcls")
            assert described.resources == [], "DescribeAcls returns resources"
        with check.subtest("CreateAcls"):
            creations = [creation(entry), creation(entry._replace(name="u"))]
            results = broker.ask(CreateAclsRequest(creations=creations), api_version).results
            assert len(results) == len(creations), f"{len(results)} results"
            for result in results:
                expect_error(result.error_code, disabled, "CreateAcls")
        with check.subtest("DeleteAcls"):
            request = DeleteAclsRequest(filters=[removal, removal])
            answers = broker.ask(request, api_version).filter_results
            assert len(answers) == len(request.filters), f"{len(answers)} results"
            for each in answers:
                expect_error(each.error_code, disabled, "DeleteAcls")
                assert each.matching_acls == [], "DeleteAcls returns entries"
