"""Errors for a topic, or partitions of a topic, that the controller does not create."""

from harness.codec.error_code import ErrorCode


class CreationRefused(Exception):
    """A refused creation, with the error code and the message for the client."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class ConfigsWithoutValue(CreationRefused):
    """Configs with null values, for which releases have returned different errors."""


class SenselessValue(CreationRefused):
    """An existing config has an invalid value."""
