"""The reason why the configs of a resource may not be described or changed."""

from harness.codec.error_code import ErrorCode


class ConfigsRefused(Exception):
    """The error and its message for the client."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message
