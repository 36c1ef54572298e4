"""The errors of a broker, as a client sees them."""

from __future__ import annotations


class BrokerMisbehaved(Exception):
    """Base: what was seen on the wire is the broker's doing, not ours."""


class ConnectionClosed(BrokerMisbehaved):
    """The broker closed or reset the connection (or refused it) while more was expected."""


class EntryRefused(ConnectionClosed):
    """TLS or SASL of a secured listener failed, before any request of a test.

    The text never contains a secret; ``advice``: one sentence, the remedy.
    """

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(reason)
        self.advice = advice


class ResponseTimeout(BrokerMisbehaved):
    """Nothing, or not enough, came within the deadline."""


class WireViolation(BrokerMisbehaved):
    """Bytes came that break the protocol: wrong correlation id, undecodable, unexpected."""

    def __init__(self, *words: object, payload: bytes | None = None) -> None:
        """``payload``: of the frame that is wrong, where a whole frame came."""
        super().__init__(*words)
        self.payload = payload


class BrokenSilence(WireViolation):
    """Bytes came before the time when an answer may come; a slow machine can look like it."""


class PreparationFailed(BrokerMisbehaved):
    """The broker refused what a test needs before it can ask its question."""

    def __init__(self, reason: str, error_code: int | None = None) -> None:
        """``error_code``: of the answer that refused it."""
        super().__init__(reason)
        self.error_code = error_code


class DidNotStart(BrokerMisbehaved):
    """The broker, ended by a test, does not come back with the data that is there."""


class ApiNotAdvertised(Exception):
    """The broker does not serve an API or version that the test needs."""
