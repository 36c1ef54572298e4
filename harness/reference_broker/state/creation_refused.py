"""Why a topic, or more partitions of it, may not be created."""

from harness.codec.error_code import ErrorCode


class CreationRefused(Exception):
    """The error and its text for the client."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class ConfigsWithoutValue(CreationRefused):
    """Configs are given as null, for which releases have had different errors."""


class SenselessValue(CreationRefused):
    """A config that there is has a value that it cannot have."""
