"""A bucket of tokens that is filled at a rate, up to what eleven seconds bring.

A change takes tokens, also more than are there; below zero it is empty, until it is filled again.
So a burst costs only the time that its own tokens take. Source: KIP-599, class TokenBucket, with
controller.quota.window.num 11 and controller.quota.window.size.seconds 1.
"""

from harness.base.ids import TimeMs

_WINDOW_S = 11
_MS_PER_S = 1_000


class TokenBucket:
    """It is full at first."""

    __slots__ = ("_rate", "_tokens", "_updated_at")

    def __init__(self) -> None:
        self._tokens, self._updated_at, self._rate = 0.0, TimeMs(0), 0.0

    def take(self, count: float, rate: float, now: TimeMs) -> None:
        """Take tokens; the bucket may be empty then."""
        self._fill(rate, now)
        self._tokens = min(_WINDOW_S * rate, self._tokens - count)

    def empty_ms(self, rate: float, now: TimeMs) -> int:
        """Return the time until the bucket is no longer empty, 0 if it is not.

        Source: class ControllerMutationQuotaManager (throttleTimeMs).
        """
        self._fill(rate, now)
        return max(0, round(-self._tokens / rate * _MS_PER_S)) if rate > 0 else 0

    def is_full(self, now: TimeMs) -> bool:
        """True if a new bucket gives the same results, at the rate of the last use."""
        self._fill(self._rate, now)
        return self._tokens >= _WINDOW_S * self._rate

    def _fill(self, rate: float, now: TimeMs) -> None:
        brought = rate * (now - self._updated_at) / _MS_PER_S
        self._tokens = min(_WINDOW_S * rate, self._tokens + brought)
        self._updated_at, self._rate = now, rate
