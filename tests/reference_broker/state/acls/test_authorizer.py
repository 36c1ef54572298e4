"""Decisions by access control lists, and the index under them."""

from collections.abc import Iterator
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec.messages import RemoveAccessControlEntryRecord
from harness.reference_broker.state.acls.acl import (
    ANY,
    MATCH,
    Acl,
    AclFilter,
    AclOperation,
    AclPattern,
    AclPermission,
    AclResource,
)
from harness.reference_broker.state.acls.acl_index import AclIndex
from harness.reference_broker.state.acls.authorizer import Authorizer, ClientIdentity

ALICE = "User:alice"
HOST = "10.0.0.1"
OP, TOPIC, GROUP = AclOperation, AclResource.TOPIC, AclResource.GROUP
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
LITERAL, PREFIXED = AclPattern.LITERAL, AclPattern.PREFIXED
IMPLYING = {OP.READ, OP.WRITE, OP.DELETE, OP.ALTER}


def acl(
    name: str = "orders",
    operation: int = OP.READ,
    permission: int = ALLOW,
    pattern: int = LITERAL,
    principal: str = ALICE,
    host: str = "*",
    resource: int = TOPIC,
) -> Acl:
    return Acl(resource, name, pattern, principal, host, operation, permission)


def index_of(*acls: Acl) -> AclIndex:
    index = AclIndex()
    for number, each in enumerate(acls):
        index.put(each.as_record(UUID(int=number + 1)))
    return index


def allows(
    *acls: Acl,
    operation: int = OP.READ,
    name: str = "orders",
    client: ClientIdentity = ClientIdentity(ALICE, HOST),
    by_default: bool = False,
) -> bool:
    authorizer = Authorizer(index_of(*acls), frozenset(), allows_by_default=by_default)
    return authorizer.allows(client, operation, TOPIC, name)


def test_without_entries_the_setting_decides() -> None:
    assert not allows()
    assert allows(by_default=True)


def test_an_entry_of_another_principal_ends_the_default() -> None:
    assert not allows(acl(principal="User:bob"), by_default=True)
    assert allows(acl(name="other", principal="User:bob"), by_default=True)
    assert not allows(acl("ord", pattern=PREFIXED, principal="User:bob"), by_default=True)


@pytest.mark.parametrize(
    ("name", "pattern", "applies"),
    [
        ("orders", LITERAL, True),
        ("orders", PREFIXED, True),
        ("order", LITERAL, False),
        ("order", PREFIXED, True),
        ("o", PREFIXED, True),
        ("orders2", PREFIXED, False),
        ("*", LITERAL, True),
        ("*", PREFIXED, False),
        ("Orders", LITERAL, False),
    ],
)
def test_patterns_apply_to_names(name: str, pattern: int, applies: bool) -> None:
    assert allows(acl(name, pattern=pattern)) is applies


def test_a_denial_wins_over_permissions_of_every_pattern() -> None:
    yes = [acl("*"), acl("ord", pattern=PREFIXED), acl()]
    for no in (acl("*", permission=DENY), acl("o", permission=DENY, pattern=PREFIXED)):
        assert allows(*yes)
        assert not allows(*yes, no)
        assert not allows(no, *yes)


@pytest.mark.parametrize("operation", OP)
def test_permissions_imply_the_describing_operations(operation: AclOperation) -> None:
    everything = operation is OP.ALL
    given_one = acl(operation=operation)
    assert allows(given_one, operation=OP.DESCRIBE) is (
        everything or operation in {OP.DESCRIBE, *IMPLYING}
    )
    assert allows(given_one, operation=OP.DESCRIBE_CONFIGS) is (
        everything or operation in {OP.DESCRIBE_CONFIGS, OP.ALTER_CONFIGS}
    )
    assert allows(given_one, operation=OP.WRITE) is (everything or operation is OP.WRITE)


def test_denials_imply_no_other_operation() -> None:
    yes = acl(operation=OP.ALL)
    assert allows(yes, acl(permission=DENY), operation=OP.DESCRIBE)
    assert not allows(yes, acl(operation=OP.ALL, permission=DENY), operation=OP.DESCRIBE)


def test_principals_and_hosts_are_compared() -> None:
    assert allows(acl(principal="User:*"))
    assert not allows(acl(principal="User:Alice"))
    assert not allows(acl(principal="Group:alice"))
    assert allows(acl(host=HOST))
    assert not allows(acl(host="10.0.0.2"))
    assert allows(acl(), acl(host="10.0.0.2", permission=DENY))


def test_a_super_user_may_do_everything() -> None:
    authorizer = Authorizer(
        index_of(acl(permission=DENY, operation=OP.ALL)),
        frozenset({ALICE}),
        allows_by_default=False,
    )
    assert authorizer.allows(ClientIdentity(ALICE, HOST), OP.READ, TOPIC, "orders")
    assert authorizer.allows_with_any(ClientIdentity(ALICE, HOST), OP.WRITE, TOPIC)
    assert not authorizer.allows(ClientIdentity("User:bob", HOST), OP.READ, TOPIC, "orders")


W, NO = OP.WRITE, DENY
WITH_ANY = [
    ([], False),
    ([acl(operation=W)], True),
    ([acl(operation=OP.READ)], False),
    ([acl(operation=W, resource=GROUP)], False),
    ([acl(operation=W, host="10.0.0.2")], False),
    ([acl(operation=W), acl("*", W, NO)], False),
    ([acl("*", W), acl("*", W, NO)], False),
    ([acl("*", W), acl("o", W, NO, PREFIXED)], True),
    ([acl(operation=W), acl("orders", W, NO)], False),
    ([acl(operation=W), acl("ord", W, NO, PREFIXED)], False),
    ([acl("ord", W, pattern=PREFIXED), acl("order", W, NO, PREFIXED)], True),
    ([acl("ord", W, pattern=PREFIXED), acl("ord", W, NO, PREFIXED)], False),
    ([acl("ord", W, pattern=PREFIXED), acl("ord", W, NO)], True),
]


@pytest.mark.parametrize(("acls", "expected"), WITH_ANY)
def test_a_client_may_write_to_some_topic(acls: list[Acl], expected: bool) -> None:
    authorizer = Authorizer(index_of(*acls), frozenset(), allows_by_default=False)
    assert authorizer.allows_with_any(ClientIdentity(ALICE, HOST), W, TOPIC) is expected


NAMES = st.text("ab*", min_size=1, max_size=3)
ACLS = st.builds(
    acl,
    NAMES,
    st.sampled_from([OP.READ, OP.WRITE, OP.ALL]),
    st.sampled_from([ALLOW, DENY]),
    st.sampled_from([LITERAL, PREFIXED]),
    st.sampled_from([ALICE, "User:bob", "User:*"]),
    st.sampled_from(["*", HOST, "10.0.0.2"]),
)


@given(st.lists(ACLS, max_size=12), st.data())
def test_the_index_finds_what_a_walk_over_all_entries_finds(
    acls: list[Acl], data: st.DataObject
) -> None:
    """Also after removals, which leave the index of what is left."""
    gone = data.draw(st.sets(st.integers(0, 11)))
    index = index_of(*acls)
    for number in gone:
        index.remove(RemoveAccessControlEntryRecord(id=UUID(int=number + 1)))
    left = [each for number, each in enumerate(acls) if number not in gone]
    assert len(index) == len(left)
    authorizer = Authorizer(index, frozenset(), allows_by_default=True)
    for name, operation in product(("a", "ab", "b*", "*"), (OP.READ, OP.DESCRIBE)):
        expected = _walked(left, name, operation)
        assert authorizer.allows(ClientIdentity(ALICE, HOST), operation, TOPIC, name) is expected


def _walked(acls: list[Acl], name: str, operation: int) -> bool:
    found = [each for each in acls if _applies(each, name)]
    decided = [
        each.permission
        for each in found
        if each.principal in (ALICE, "User:*")
        and each.host in ("*", HOST)
        and (
            each.operation in (operation, OP.ALL)
            or (each.permission == ALLOW and operation == OP.DESCRIBE)
        )
    ]
    return DENY not in decided and (ALLOW in decided or not found)


def _applies(each: Acl, name: str) -> bool:
    if each.pattern == PREFIXED:
        return name.startswith(each.name)
    return each.name in (name, "*")


def _filtered() -> Iterator[tuple[AclFilter, set[str]]]:
    yield AclFilter(), {"ab", "a", "*", "b"}
    yield AclFilter(name="ab"), {"ab"}
    yield AclFilter(name="ab", pattern=MATCH), {"ab", "a", "*"}
    yield AclFilter(name="ab", pattern=LITERAL), {"ab"}
    yield AclFilter(name="a", pattern=PREFIXED), {"a"}
    yield AclFilter(name="ab", pattern=PREFIXED), set()
    yield AclFilter(pattern=LITERAL), {"ab", "*", "b"}
    yield AclFilter(resource=GROUP), {"b"}
    yield AclFilter(principal="User:bob"), {"b"}
    yield AclFilter(principal="User:*"), set()
    yield AclFilter(host=HOST), {"a"}
    yield AclFilter(operation=OP.WRITE), {"b"}
    yield AclFilter(operation=ANY, permission=DENY), {"*"}


@pytest.mark.parametrize(("wanted", "names"), list(_filtered()))
def test_filters_select_entries(wanted: AclFilter, names: set[str]) -> None:
    index = index_of(
        acl("ab"),
        acl("a", pattern=PREFIXED, host=HOST),
        acl("*", permission=DENY),
        acl("b", resource=GROUP, principal="User:bob", operation=OP.WRITE),
    )
    assert {found.name for _, found in index.selected(wanted)} == names


def test_an_entry_is_known_until_its_removal() -> None:
    index = index_of(acl())
    assert acl() in index
    index.remove(RemoveAccessControlEntryRecord(id=UUID(int=1)))
    index.remove(RemoveAccessControlEntryRecord(id=UUID(int=1)))
    assert acl() not in index
    assert not index.selected(AclFilter())
