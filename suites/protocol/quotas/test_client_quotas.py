"""QUOTA: how client quotas are changed and described (KIP-546)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.quota_admin import (
    ANY,
    CLIENT_ID,
    CONNECTIONS,
    CONSUMER,
    DEFAULT,
    EXACT,
    IP,
    MUTATIONS,
    PERCENTAGE,
    PRODUCER,
    QUOTA_WITHIN_MS,
    USER,
    Entity,
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

ALTER = api_named("AlterClientQuotas")
HUGE = 1e12  # bytes per second: the quota of a default entity is also that of this client
MORE_THAN_ALL = 100_000.5  # percent, of all threads together
SOME = {PRODUCER: HUGE}
Parts = Sequence[tuple[str, str | None]]


def _versions(broker: BrokerUnderTest) -> Iterator[int]:
    """Yield the versions of AlterClientQuotas and DescribeClientQuotas, which are the same."""
    broker.version("AlterClientQuotas")
    yield from broker.advertised("AlterClientQuotas") & ALTER.valid_versions


def _clients(broker: BrokerUnderTest) -> list[Parts]:
    """Return entities of each kind that a client has, with names that no other test uses."""
    user, client_id = broker.unique_topic(), broker.unique_topic()
    names = ((user, client_id), (user, None), (None, client_id), (None, None))
    return [
        *(entity(*each) for each in names),
        *(entity(user=each) for each in (user, None)),
        *(entity(client_id=each) for each in (client_id, None)),
    ]


def _expect_quotas(broker: BrokerUnderTest, expected: Quotas, when: str, version: int) -> None:
    """All quotas of the broker must become so."""
    found = broker.last_seen(
        lambda: quotas_in(describe_quotas(broker, version=version)),
        lambda found: found == expected,
        QUOTA_WITHIN_MS,
    )
    wrong = {name for name in {*found, *expected} if found.get(name) != expected.get(name)}
    told = [f"{_shown(each)}: {found.get(each)}, expected {expected.get(each)}" for each in wrong]
    assert not wrong, f"{when}: {'; '.join(sorted(told))}"


def _shown(of: Entity) -> str:
    return "+".join(f"{kind} {name or 'default'}" for kind, name in sorted(of)) or "no entity"


def _expect_altered(
    broker: BrokerUnderTest, changes: Sequence[QuotaChange], when: str, version: int
) -> None:
    answers = dict(alter_quotas(broker, *changes, version=version))
    named = {frozenset(each.entity) for each in changes}
    assert answers.keys() == named, f"{when}: the answer has {[_shown(one) for one in answers]}"
    for of, code in answers.items():
        expect_error(code, ErrorCode.NONE, f"{when}, {_shown(of)}")


@judges("QUOTA-001")
@needs_broker(Use.OWN)
def test_client_quotas_are_set_changed_and_removed_key_by_key(broker: BrokerUnderTest) -> None:
    """Entities of each kind, each with values of its own, get two quotas; one changes and a third
    comes; one goes; all go. A change leaves the keys alone that it does not name."""
    for version in _versions(broker):
        places = list(enumerate(_clients(broker), start=1))
        steps: list[tuple[str, dict[str, float | None]]] = [
            ("two are set", {PRODUCER: HUGE, CONSUMER: 2 * HUGE}),
            ("one is changed, one comes", {PRODUCER: 3 * HUGE, PERCENTAGE: MORE_THAN_ALL}),
            ("one is removed", {CONSUMER: None}),
            ("one is changed, one is removed", {PRODUCER: None, PERCENTAGE: 2 * MORE_THAN_ALL}),
            ("the last is removed", {PERCENTAGE: None}),
        ]
        expected: Quotas = {frozenset(of): {} for _, of in places}
        with requirement("QUOTA-001", api_key=ALTER.key, api_version=version):
            for when, values in steps:
                changes = [quota(of, _times(values, place)) for place, of in places]
                _expect_altered(broker, changes, when, version)
                for each in changes:
                    _apply(expected[frozenset(each.entity)], dict(each.values))
                left = {of: kept for of, kept in expected.items() if kept}
                _expect_quotas(broker, left, when, version)


def _times(values: Mapping[str, float | None], place: int) -> dict[str, float | None]:
    """Return other values for each place."""
    return {key: None if value is None else value * place for key, value in values.items()}


def _apply(kept: dict[str, float], values: Mapping[str, float | None]) -> None:
    for key, value in values.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value


@judges("QUOTA-001")
@needs_broker(Use.OWN)
def test_client_quotas_with_validate_only_change_nothing(broker: BrokerUnderTest) -> None:
    """To set, change and remove, also two entities at once: only a later change is seen."""
    for version in _versions(broker):
        known, unknown, later = (broker.unique_topic() for _ in range(3))
        prepare_quotas(broker, quota(entity(client_id=known), {PRODUCER: 1e6, CONSUMER: 2e6}))
        expected: Quotas = {frozenset(entity(client_id=known)): {PRODUCER: 1e6, CONSUMER: 2e6}}
        with requirement("QUOTA-001", api_key=ALTER.key, api_version=version):
            changes = [
                quota(entity(client_id=of), values)
                for of, values in (
                    (unknown, {PRODUCER: 3e6}),
                    (known, {PRODUCER: 4e6}),
                    (known, {CONSUMER: None}),
                    (known, {PRODUCER: None, CONSUMER: None}),
                )
            ]
            for asked in (changes[:2], *([each] for each in changes)):
                for _, code in alter_quotas(broker, *asked, version=version, validate_only=True):
                    expect_error(code, ErrorCode.NONE, f"validation of {asked}")
            _expect_altered(broker, [quota(entity(client_id=later), SOME)], "later", version)
            expected[frozenset(entity(client_id=later))] = SOME
            _expect_quotas(broker, expected, "after validations", version)
        gone: dict[str, float | None] = {PRODUCER: None, CONSUMER: None}
        prepare_quotas(broker, *(quota(entity(client_id=each), gone) for each in (known, later)))


# Invalid in every release: entities, keys and values.
NO_ENTITY: list[Parts] = [
    [],
    [("host", "a")],
    [(USER, "")],
    [(CLIENT_ID, "")],
    [(USER, "a"), (CLIENT_ID, "")],
    [(IP, "")],
    [(IP, "no.such.host.invalid")],
    [(USER, "a"), (IP, "127.0.0.1")],
    [(CLIENT_ID, "a"), (IP, "127.0.0.1")],
]
NO_QUOTA: list[tuple[Parts, str, float]] = [
    ([(CLIENT_ID, "a")], "byte_rate", 1000),
    ([(CLIENT_ID, "a")], CONNECTIONS, 1000),
    ([(IP, "127.0.0.1")], PRODUCER, 1000),
    ([(CLIENT_ID, "a")], PRODUCER, -1),
    ([(USER, "a")], CONSUMER, 1000.5),
    ([(CLIENT_ID, "a")], PRODUCER, 1e19),  # more than 64 bits
]


@judges("QUOTA-002")
@needs_broker(Use.OWN)
def test_invalid_client_quota_returns_invalid_request_and_changes_nothing(
    broker: BrokerUnderTest,
) -> None:
    """Each beside a valid quota of another entity in the same request, which is set. A fraction is
    a valid percentage, 1 is a valid rate. A validation alone has the same errors."""
    for version in _versions(broker):
        bad = [QuotaChange(of, [(PRODUCER, 1000)]) for of in NO_ENTITY]
        bad += [QuotaChange(of, [(key, value)]) for of, key, value in NO_QUOTA]
        expected: Quotas = {}
        with requirement("QUOTA-002", api_key=ALTER.key, api_version=version):
            for number, change in enumerate(bad):
                of = entity(client_id=broker.unique_topic())
                good = {PERCENTAGE: 0.5, PRODUCER: 1.0} if number % 2 else {CONSUMER: 1e6}
                told = f"{_shown(frozenset(change.entity))} with {dict(change.values)}"
                changes = (change, quota(of, good))
                for kind, only in (("validated", True), ("set", False)):
                    answers = dict(
                        alter_quotas(broker, *changes, version=version, validate_only=only)
                    )
                    error = answers[frozenset(change.entity)]
                    expect_error(error, ErrorCode.INVALID_REQUEST, f"{told}, {kind}")
                    beside = f"{good} beside {told}, {kind}"
                    expect_error(answers[frozenset(of)], ErrorCode.NONE, beside)
                expected[frozenset(of)] = good
            _expect_quotas(broker, expected, "after refused quotas", version)
        for name, values in expected.items():
            prepare_quotas(broker, quota(list(name), dict.fromkeys(values)))


@judges("QUOTA-013")
@needs_broker(Use.OWN)
def test_client_quota_of_zero_or_below_returns_invalid_request(broker: BrokerUnderTest) -> None:
    """0 of each key, a negative percentage and rate of connections, and a rate that is no whole
    number of connections; the least values that are above 0 are set."""
    client, address = entity(client_id=broker.unique_topic()), entity(ip="127.0.0.1")
    refused = [(client, key, 0.0) for key in (PRODUCER, CONSUMER, PERCENTAGE, MUTATIONS)]
    refused += [(address, CONNECTIONS, value) for value in (0.0, -1.0, 1.5)]
    refused += [(client, key, -1.5) for key in (PERCENTAGE, MUTATIONS)]
    least = {PRODUCER: 1.0, CONSUMER: 1.0, PERCENTAGE: 0.01, MUTATIONS: 0.01}
    with requirement("QUOTA-013"):
        for of, key, value in refused:
            ((_, code),) = alter_quotas(broker, quota(of, {key: value}))
            expect_error(code, ErrorCode.INVALID_REQUEST, f"{key} {value}")
        ((_, code),) = alter_quotas(broker, quota(client, least))
        expect_error(code, ErrorCode.NONE, f"{least}")
        version = broker.version("DescribeClientQuotas")
        _expect_quotas(broker, {frozenset(client): least}, "after refused quotas", version)


def _filters(user: str, client_id: str) -> list[tuple[list[Filter], bool]]:
    """Return filters with and without `strict`: each match type, alone and beside another."""
    of_client: list[Filter] = [(CLIENT_ID, EXACT, client_id)]
    of_client += [(CLIENT_ID, DEFAULT, None), (CLIENT_ID, ANY, None)]
    of_user: list[Filter] = [(USER, EXACT, user), (USER, DEFAULT, None), (USER, ANY, None)]
    unknown: Filter = (CLIENT_ID, EXACT, "no-such-client")
    chosen = [[], *([each] for each in (*of_client, *of_user, unknown))]
    chosen += [[first, second] for first in of_user for second in of_client]
    return [(each, strict) for each in chosen for strict in (False, True)]


def _passes(of: Entity, filters: Sequence[Filter], strict: bool) -> bool:
    parts = dict(of)
    if strict and parts.keys() != {kind for kind, _, _ in filters}:
        return False
    return all(
        kind in parts and (match_type == ANY or parts[kind] == name)
        for kind, match_type, name in filters
    )


@judges("QUOTA-003")
@needs_broker(Use.OWN)
def test_describe_client_quotas_returns_entities_that_match_filter(broker: BrokerUnderTest) -> None:
    """Exact, default and any, of clients, users and both, strict and not; of ten entities with
    values of their own."""
    broker.version("DescribeClientQuotas")
    user, client_id = broker.unique_topic(), broker.unique_topic()
    others = [entity(user="other"), entity(client_id="other")]
    named = [entity(user, client_id), entity(user, None), entity(None, client_id)]
    single = [entity(user=user), entity(user=None), entity(client_id=client_id)]
    all_of_them = [*named, *single, entity(client_id=None), entity(None, None), *others]
    kept: Quotas = {
        frozenset(of): {PRODUCER: HUGE * place, CONSUMER: HUGE * place + 1}
        for place, of in enumerate(all_of_them, start=1)
    }
    prepare_quotas(broker, *(quota(list(of), values) for of, values in kept.items()))
    for version in _versions(broker):
        with requirement("QUOTA-003", api_key=48, api_version=version):
            _expect_quotas(broker, kept, "without a filter", version)
            for filters, strict in _filters(user, client_id):
                answer = describe_quotas(broker, filters, strict=strict, version=version)
                expected = {of: kept[of] for of in kept if _passes(of, filters, strict)}
                told = f"filter {filters}, {'' if strict else 'not '}strict"
                found = quotas_in(answer)
                names = [_shown(of) for of in found]
                assert found.keys() == expected.keys(), f"{told}: found are {sorted(names)}"
                assert found == expected, f"{told}: {found}, expected {expected}"


@judges("QUOTA-014")
@needs_broker(Use.OWN)
def test_describe_client_quotas_with_contradictory_filter_returns_error(
    broker: BrokerUnderTest,
) -> None:
    """A filter that no entity can match, or that cannot be understood, gives an error and no list;
    the empty name is one that no entity has."""
    refused: list[tuple[list[Filter], ErrorCode]] = [
        ([(USER, EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([(USER, DEFAULT, "a")], ErrorCode.INVALID_REQUEST),
        ([(CLIENT_ID, ANY, "a")], ErrorCode.INVALID_REQUEST),
        ([(CLIENT_ID, ANY + 1, None)], ErrorCode.INVALID_REQUEST),
        ([(CLIENT_ID, EXACT - 1, None)], ErrorCode.INVALID_REQUEST),
        ([(USER, EXACT, "a"), (USER, EXACT, "b")], ErrorCode.INVALID_REQUEST),
        ([(USER, ANY, None), (IP, ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("", EXACT, "a")], ErrorCode.INVALID_REQUEST),
        ([("host", EXACT, "a")], ErrorCode.UNSUPPORTED_VERSION),
    ]
    for version in _versions(broker):
        with requirement("QUOTA-014", api_key=48, api_version=version):
            for filters, error in refused:
                answer = describe_quotas(broker, filters, version=version)
                expect_error(answer.error_code, error, f"filter {filters}")
                assert not answer.entries, f"filter {filters}: entities are {answer.entries}"
            assert not quotas_in(describe_quotas(broker, [(USER, EXACT, "")], version=version))
