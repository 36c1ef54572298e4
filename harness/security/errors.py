"""The errors of this room."""

from __future__ import annotations


class SecurityError(Exception):
    """Settings that cannot be used: the text has the file, the line and the setting."""


class ExchangeFailed(Exception):
    """An authentication failed before or without the verdict of the broker: no token can be
    obtained, or the broker does not prove that it knows the password."""
