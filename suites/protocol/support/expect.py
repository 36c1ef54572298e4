"""Expectations that report the values seen."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode


def expect_error(actual: int, expected: ErrorCode, where: str = "") -> None:
    """The error code must be this one; ``where`` describes the response."""
    prefix = f"{where}: " if where else ""
    told = f"{prefix}error is {ErrorCode.describe(actual)}, expected {ErrorCode.describe(expected)}"
    assert actual == expected, told
