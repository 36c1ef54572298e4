"""The bucket of tokens behind controller_mutation_rate."""

import pytest

from harness.base.ids import TimeMs
from harness.reference_broker.state.quotas.client_quotas import (
    CLIENT_ID,
    CONTROLLER_MUTATION_RATE,
    USER,
    ClientQuotas,
    QuotaClient,
)
from harness.reference_broker.state.quotas.token_bucket import TokenBucket

START = TimeMs(1_700_000_000_000)
RATE = 2.0
FULL = 22
"""Eleven seconds of the rate."""


def later(ms: int) -> TimeMs:
    return TimeMs(START + ms)


@pytest.mark.parametrize(
    ("count", "empty_ms"), [(0, 0), (FULL - 1, 0), (FULL, 0), (FULL + 1, 500), (3 * FULL, 22_000)]
)
def test_a_bucket_is_empty_behind_eleven_seconds_of_its_rate(count: int, empty_ms: int) -> None:
    bucket = TokenBucket()
    bucket.take(count, RATE, START)
    assert bucket.empty_ms(RATE, START) == empty_ms
    assert bucket.empty_ms(RATE, later(empty_ms)) == 0


def test_a_bucket_never_has_more_than_eleven_seconds() -> None:
    bucket = TokenBucket()
    bucket.take(1, RATE, START)
    assert not bucket.is_full(later(499))
    assert bucket.is_full(later(500))
    bucket.take(FULL + 1, RATE, later(3_600_000))
    assert bucket.empty_ms(RATE, later(3_600_000)) == 500


def test_clients_of_one_user_share_the_bucket_of_the_user() -> None:
    quotas = ClientQuotas()
    quotas.alter(frozenset({(USER, "alice")}), {CONTROLLER_MUTATION_RATE: RATE})
    quotas.alter(frozenset({(CLIENT_ID, "c")}), {CONTROLLER_MUTATION_RATE: 1.0})
    quotas.mutated(QuotaClient("a", "alice"), FULL + 1, START)
    assert quotas.empty_ms(QuotaClient("b", "alice"), START) == 500
    assert quotas.empty_ms(QuotaClient("c", "alice"), START) == 500
    assert quotas.empty_ms(QuotaClient("c", "bob"), START) == 0
    assert quotas.empty_ms(QuotaClient("d", "bob"), START) == 0


def test_full_buckets_are_forgotten() -> None:
    quotas = ClientQuotas()
    quotas.alter(frozenset({(CLIENT_ID, None)}), {CONTROLLER_MUTATION_RATE: RATE})
    for number in range(10):
        quotas.mutated(QuotaClient(f"c{number}"), 1, START)
    assert quotas.bucket_count == 10
    quotas.mutated(QuotaClient("other"), 1, later(60_000))
    assert quotas.bucket_count == 1
