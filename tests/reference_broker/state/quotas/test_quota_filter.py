"""The filter of DescribeClientQuotas."""

from __future__ import annotations

import pytest

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.quotas.quota_filter import (
    ANY,
    DEFAULT,
    EXACT,
    FilterRefused,
    filter_of,
)

ALICE = frozenset({("user", "alice")})
ALICE_OF_CI = frozenset({("user", "alice"), ("client-id", "ci")})
DEFAULT_USER = frozenset({("user", None)})
EVERYBODY = (ALICE, ALICE_OF_CI, DEFAULT_USER)


@pytest.mark.parametrize(
    ("parts", "is_strict", "passing"),
    [
        ([], False, EVERYBODY),
        ([], True, ()),
        ([("user", EXACT, "alice")], False, (ALICE, ALICE_OF_CI)),
        ([("user", EXACT, "alice")], True, (ALICE,)),
        ([("user", DEFAULT, None)], True, (DEFAULT_USER,)),
        ([("user", ANY, None)], True, (ALICE, DEFAULT_USER)),
        ([("user", ANY, None), ("client-id", EXACT, "ci")], True, (ALICE_OF_CI,)),
    ],
)
def test_quota_filter_passes_matching_entities(
    parts: list[tuple[str, int, str | None]],
    is_strict: bool,
    passing: tuple[frozenset[tuple[str, str | None]], ...],
) -> None:
    wanted = filter_of(parts, is_strict=is_strict)
    assert [one for one in EVERYBODY if wanted.passes(one)] == list(passing)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ([("", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, None), ("user", EXACT, "a")], ErrorCode.INVALID_REQUEST),
        ([("shoe", ANY, None)], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([("user", EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, "a")], ErrorCode.INVALID_REQUEST),
        ([("ip", ANY, None), ("user", ANY, None)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_invalid_quota_filter_is_refused(
    parts: list[tuple[str, int, str | None]], error: ErrorCode
) -> None:
    with pytest.raises(FilterRefused) as refused:
        filter_of(parts, is_strict=False)
    assert refused.value.error is error
