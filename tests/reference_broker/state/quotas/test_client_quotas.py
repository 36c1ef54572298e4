"""Client quotas: the rate that is allowed, and the throttle time after a higher one."""

import pytest

from harness.base.ids import TimeMs
from harness.reference_broker.state.quotas.client_quotas import (
    CONNECTION_CREATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    ClientQuotas,
    QuotaClient,
    QuotaRefused,
    check_entity,
    check_quota,
)
from harness.reference_broker.state.quotas.rate import Rate

NOW = TimeMs(1_000_000)


def at(after_ms: int) -> TimeMs:
    return TimeMs(NOW + after_ms)


def test_rate_allows_burst_of_ten_seconds() -> None:
    rate = Rate()
    rate.record(1_000, NOW)
    assert rate.throttle_ms(100, NOW) == 0
    rate.record(200, NOW)
    assert rate.throttle_ms(100, NOW) == 2_000


def test_throttle_time_changes_as_rate_window_moves() -> None:
    rate = Rate()
    rate.record(1_200, NOW)
    assert rate.throttle_ms(100, at(500)) == 1_500
    assert rate.throttle_ms(100, at(2_000)) == 2_000  # whole seconds that are missing are added
    assert rate.throttle_ms(100, at(10_000)) == 2_000
    assert rate.throttle_ms(100, at(10_500)) == 1_500
    assert rate.throttle_ms(100, at(11_000)) == 0  # forgotten


def test_negative_recording_cancels_recorded_bytes() -> None:
    rate = Rate()
    rate.record(1_200, NOW)
    rate.record(-1_200, NOW)
    assert rate.throttle_ms(100, NOW) == 0


def quotas_of(**limits: float) -> ClientQuotas:
    """``u_c``: of user ANONYMOUS with client id c; ``_`` is for every other client."""
    quotas = ClientQuotas()
    for name, limit in limits.items():
        user, _, client = name.partition("_")
        parts: list[tuple[str, str | None]] = []
        if user:
            parts.append(("user", "ANONYMOUS" if user == "u" else None))
        if client:
            parts.append(("client-id", client if client != "any" else None))
        quotas.alter(check_entity(parts), {PRODUCER_BYTE_RATE: limit})
    return quotas


@pytest.mark.parametrize(
    ("limits", "counts"),
    [
        ({"_c": 1.0, "_any": 2.0}, 1),
        ({"_d": 1.0, "_any": 2.0}, 2),
        ({"u": 3.0, "_c": 1.0}, 3),
        ({"u_any": 4.0, "u": 3.0}, 4),
        ({"u_c": 5.0, "u_any": 4.0}, 5),
        ({"any_c": 6.0, "u": 3.0}, 3),
        ({"any": 7.0, "_c": 1.0}, 7),
        ({"_d": 1.0}, None),
    ],
)
def test_most_specific_quota_applies_to_client(
    limits: dict[str, float], counts: int | None
) -> None:
    expected = None if counts is None else counts * 10
    assert quotas_of(**limits).most_bytes(PRODUCER_BYTE_RATE, QuotaClient("c")) == expected


def test_clients_share_user_quota_but_not_default_client_quota() -> None:
    together = quotas_of(u=100.0)
    assert together.used(PRODUCER_BYTE_RATE, QuotaClient("a"), 1_000, NOW) == 0
    assert together.used(PRODUCER_BYTE_RATE, QuotaClient("b"), 100, NOW) == 1_000
    each = quotas_of(_any=100.0)
    assert each.used(PRODUCER_BYTE_RATE, QuotaClient("a"), 1_000, NOW) == 0
    assert each.used(PRODUCER_BYTE_RATE, QuotaClient("b"), 100, NOW) == 0


def test_removed_quota_does_not_throttle() -> None:
    quotas = quotas_of(_c=1.0)
    quotas.alter(check_entity([("client-id", "c")]), {PRODUCER_BYTE_RATE: None})
    assert quotas.used(PRODUCER_BYTE_RATE, QuotaClient("c"), 1_000_000, NOW) == 0


def test_request_time_throttle_is_at_most_one_second() -> None:
    quotas = ClientQuotas()
    quotas.alter(check_entity([("client-id", "c")]), {REQUEST_PERCENTAGE: 0.001})
    assert quotas.worked(QuotaClient("c"), 1_000_000_000, NOW) == 1_000
    assert quotas.worked(QuotaClient("d"), 1_000_000_000, NOW) == 0


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("client-id", "")],
        [("colour", "red")],
        [("ip", "127.0.0.1"), ("client-id", "c")],
        [("ip", "no-such-host")],
        [("ip", "127.0.0.256")],
    ],
)
def test_invalid_quota_entity_is_refused(parts: list[tuple[str, str | None]]) -> None:
    with pytest.raises(QuotaRefused):
        check_entity(parts)


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("client-id", "no_such_rate", 1.0),
        ("client-id", "connection_creation_rate", 1.0),
        ("ip", PRODUCER_BYTE_RATE, 1.0),
        ("client-id", PRODUCER_BYTE_RATE, 0.0),
        ("client-id", PRODUCER_BYTE_RATE, 1.5),
        ("ip", "connection_creation_rate", 2.0**31),
    ],
)
def test_invalid_quota_key_or_value_is_refused(kind: str, key: str, value: float) -> None:
    with pytest.raises(QuotaRefused):
        check_quota(check_entity([(kind, "127.0.0.1")]), key, value)


def test_fractional_request_percentage_is_accepted() -> None:
    check_quota(check_entity([("user", None)]), REQUEST_PERCENTAGE, 0.5)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_quota_is_refused_only_since_4_4(value: float) -> None:
    entity = check_entity([("user", "x")])
    check_quota(entity, REQUEST_PERCENTAGE, value, finite=False)
    with pytest.raises(QuotaRefused):
        check_quota(entity, REQUEST_PERCENTAGE, value)


@pytest.mark.parametrize("name", [None, "10.0.0.1", "::1", "localhost"])
def test_ip_entity_accepts_connection_rate_quota(name: str | None) -> None:
    check_quota(check_entity([("ip", name)]), "connection_creation_rate", 1.0)


def test_client_rate_is_dropped_after_its_window() -> None:
    quotas = ClientQuotas()
    quotas.alter(check_entity([("client-id", None)]), {PRODUCER_BYTE_RATE: 10.0})
    for number in range(100):
        quotas.used(PRODUCER_BYTE_RATE, QuotaClient(f"client-{number}"), 1_000, NOW)
    assert quotas.used(PRODUCER_BYTE_RATE, QuotaClient("client-0"), 0, at(10_000)) > 0
    quotas.used(PRODUCER_BYTE_RATE, QuotaClient("another"), 1, at(22_000))
    assert quotas.rate_count == 1


def test_quota_of_zero_throttles_request_time_only() -> None:
    """The endless pause of bytes does not fit into Kafka's int32 (class ClientQuotaManager)."""
    quotas = ClientQuotas()
    quotas.alter(check_entity([("user", None)]), {PRODUCER_BYTE_RATE: 0.0, REQUEST_PERCENTAGE: 0.0})
    assert quotas.used(PRODUCER_BYTE_RATE, QuotaClient("c"), 100, NOW) == 0
    assert quotas.worked(QuotaClient("c"), 1_000, NOW) == 1_000


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", None])
def test_connections_above_the_rate_of_an_address_wait_a_second_at_most(name: str | None) -> None:
    quotas = ClientQuotas()
    quotas.alter(check_entity([("ip", name)]), {CONNECTION_CREATION_RATE: 2.0})
    found = [quotas.connected("127.0.0.1", NOW) for _ in range(23)]
    assert found == [0] * 20 + [500] * 3
    assert quotas.connected("127.0.0.1", at(20_000)) == 0
    others = [quotas.connected("192.0.2.1", NOW) for _ in range(21)]
    assert others == [0] * 20 + [500 if name is None else 0]


def test_an_own_rate_of_an_address_is_before_that_of_all() -> None:
    quotas = ClientQuotas()
    quotas.alter(check_entity([("ip", None)]), {CONNECTION_CREATION_RATE: 1.0})
    quotas.alter(check_entity([("ip", "127.0.0.1")]), {CONNECTION_CREATION_RATE: 0.1})
    assert [quotas.connected("127.0.0.1", NOW) for _ in range(2)] == [0, 1_000]
