"""QUOTA: quotas of an entity that are changed together or not at all, and those of addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.quota_admin import (
    ANY,
    CONNECTIONS,
    CONSUMER,
    DEFAULT,
    EXACT,
    IP,
    PERCENTAGE,
    PRODUCER,
    QUOTA_WITHIN_MS,
    USER,
    Filter,
    QuotaChange,
    Quotas,
    alter_quotas,
    describe_quotas,
    entity,
    prepare_quotas,
    quota,
    quotas_in,
)

ALTER, DESCRIBE = api_named("AlterClientQuotas"), api_named("DescribeClientQuotas")
KEPT = {PRODUCER: 1e6, CONSUMER: 2e6}
Ops = Sequence[tuple[str, float | None]]
Parts = Sequence[tuple[str, str | None]]

INVALID: Mapping[str, Ops] = {
    "a negative rate behind a rate": [(PRODUCER, 3e6), (CONSUMER, -1.0)],
    "a negative rate before a rate": [(PRODUCER, -1.0), (CONSUMER, 3e6)],
    "a fraction behind a removal": [(PRODUCER, None), (CONSUMER, 1000.5)],
    "an unknown key behind a new one": [(PERCENTAGE, 50.0), ("byte_rate", 1000.0)],
}
TWICE: Mapping[str, Ops] = {
    "a key with two values": [(CONSUMER, 3e6), (PRODUCER, 3e6), (PRODUCER, 4e6)],
    "a key set and removed": [(PRODUCER, 3e6), (PRODUCER, None)],
}


def _newest(broker: BrokerUnderTest) -> int:
    broker.version("DescribeClientQuotas")
    return broker.version("AlterClientQuotas")


def _shown(broker: BrokerUnderTest, expected: Quotas) -> Quotas:
    """Return all quotas when they are as expected, or the last that were seen."""
    return broker.last_seen(
        lambda: quotas_in(describe_quotas(broker)), lambda found: found == expected, QUOTA_WITHIN_MS
    )


@judges("QUOTA-017")
@needs_broker(Use.OWN)
def test_client_quota_entity_with_invalid_value_keeps_all_its_quotas(
    broker: BrokerUnderTest,
) -> None:
    """Each of several entities of a request, with another one that is changed."""
    _expect_refused_and_kept(broker, "QUOTA-017", INVALID)


@judges("QUOTA-018")
@needs_broker(Use.OWN)
def test_client_quota_entity_with_key_named_twice_keeps_all_its_quotas(
    broker: BrokerUnderTest,
) -> None:
    """Two values of a key, a value and its removal."""
    _expect_refused_and_kept(broker, "QUOTA-018", TWICE)


def _expect_refused_and_kept(
    broker: BrokerUnderTest, requirement_id: str, refused: Mapping[str, Ops]
) -> None:
    version, other = _newest(broker), entity(client_id=broker.unique_topic())
    entities = {told: entity(broker.unique_topic(), broker.unique_topic()) for told in refused}
    prepare_quotas(broker, *(quota(of, KEPT) for of in entities.values()))
    changes = [QuotaChange(of, refused[told]) for told, of in entities.items()]
    expected: Quotas = {frozenset(of): {**KEPT} for of in (*entities.values(), other)}
    with requirement(requirement_id, api_key=ALTER.key, api_version=version) as check:
        answers = dict(alter_quotas(broker, *changes, quota(other, KEPT), version=version))
        expect_error(answers[frozenset(other)], ErrorCode.NONE, "an entity beside them")
        found = _shown(broker, expected)
        assert found.get(frozenset(other)) == KEPT, "an entity beside them is not changed"
        for told, of in entities.items():
            with check.subtest(told):
                expect_error(answers[frozenset(of)], ErrorCode.INVALID_REQUEST, told)
                kept = found.get(frozenset(of))
                assert kept == KEPT, f"{told}: quotas are {kept}, before they were {KEPT}"


@judges("QUOTA-019")
@needs_broker(Use.OWN)
def test_client_quota_entity_is_same_in_any_order_of_its_parts(broker: BrokerUnderTest) -> None:
    """Set for user and client id, changed, described and removed for client id and user."""
    version = _newest(broker)
    of = entity(broker.unique_topic(), broker.unique_topic())
    turned = list(reversed(of))
    steps: list[tuple[Parts, dict[str, float | None]]] = [
        (of, {PRODUCER: 1e6, CONSUMER: 2e6}),
        (turned, {PRODUCER: 3e6}),
        (turned, {CONSUMER: None}),
        (of, {PRODUCER: None}),
    ]
    with requirement("QUOTA-019", api_key=ALTER.key, api_version=version):
        _expect_steps(broker, version, turned, steps)


def _expect_steps(
    broker: BrokerUnderTest,
    version: int,
    turned: Parts,
    steps: Sequence[tuple[Parts, dict[str, float | None]]],
) -> None:
    """The changes of one entity must add up, among all quotas and by a filter of it."""
    filters: list[Filter] = [(kind, EXACT, name) for kind, name in turned]
    expected: dict[str, float | None] = {}
    for parts, values in steps:
        when = f"{values} for {' and '.join(kind for kind, _ in parts)}"
        ((_, code),) = alter_quotas(broker, quota(parts, values), version=version)
        expect_error(code, ErrorCode.NONE, when)
        expected = {**expected, **values}
        left = {key: value for key, value in expected.items() if value is not None}
        wanted: Quotas = {frozenset(turned): left} if left else {}
        found = _shown(broker, wanted)
        assert found == wanted, f"{when}: {found}, expected {wanted}"
        filtered = quotas_in(describe_quotas(broker, filters, strict=True))
        assert filtered == wanted, f"{when}, by filter: {filtered}, expected {wanted}"


ADDRESSES = ("127.0.0.1", "192.0.2.7", "192.0.2.8", None)


@judges("QUOTA-020")
@needs_broker(Use.OWN)
def test_connection_creation_rate_is_set_described_and_removed_by_ip(
    broker: BrokerUnderTest,
) -> None:
    """Of three addresses and the default one, beside the quota of a user; each with a rate of its
    own, by each match type, and removed one by one."""
    version, user = _newest(broker), entity(user=broker.unique_topic())
    kept: Quotas = {
        frozenset(entity(ip=name)): {CONNECTIONS: 1_000.0 * place}
        for place, name in enumerate(ADDRESSES, start=1)
    }
    of_user: Quotas = {frozenset(user): {PRODUCER: 1e6}}
    prepare_quotas(broker, quota(user, {PRODUCER: 1e6}))
    with requirement("QUOTA-020", api_key=DESCRIBE.key) as check:
        changes = [quota(list(of), values) for of, values in kept.items()]
        refused = [one for one in alter_quotas(broker, *changes, version=version) if one[1]]
        assert not refused, f"refused quotas of addresses: {refused}"
        found = _shown(broker, kept | of_user)
        assert found == kept | of_user, f"all quotas: {found}, expected {kept | of_user}"
        for match_type, name in (
            *((EXACT, name) for name in ADDRESSES if name),
            *((DEFAULT, None), (ANY, None), (EXACT, "198.51.100.1")),
        ):
            with check.subtest(f"{IP} {match_type} {name}"):
                passing = {of for of in kept if match_type == ANY or dict(of)[IP] == name}
                wanted = {of: values for of, values in kept.items() if of in passing}
                told = f"filter {IP} {match_type} {name}"
                _expect_found(broker, [(IP, match_type, name)], wanted, told)
        _expect_found(broker, [(USER, ANY, None)], of_user, "filter of any user")
        while kept:
            of, _ = kept.popitem()
            ((_, code),) = alter_quotas(broker, quota(list(of), {CONNECTIONS: None}))
            expect_error(code, ErrorCode.NONE, f"removal of {sorted(of, key=str)}")
            found = _shown(broker, kept | of_user)
            assert found == kept | of_user, f"after the removal of {sorted(of, key=str)}: {found}"


def _expect_found(
    broker: BrokerUnderTest, filters: Sequence[Filter], expected: Quotas, told: str
) -> None:
    """The filter must have these quotas, strict and not."""
    for strict in (False, True):
        found = quotas_in(describe_quotas(broker, filters, strict=strict))
        assert found == expected, f"{told}: {found}, expected {expected}"
