"""The reason why the controller refuses a request."""

from harness.codec.error_code import ErrorCode


class ControllerRefused(Exception):
    """Nothing was changed; `error` is the whole answer."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or error.name)
        self.error, self.message = error, message
