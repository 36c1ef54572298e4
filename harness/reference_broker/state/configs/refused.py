"""Why the configs of a resource may not be shown or changed."""

from harness.codec.error_code import ErrorCode


class ConfigsRefused(Exception):
    """The error and its text for the client."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message
