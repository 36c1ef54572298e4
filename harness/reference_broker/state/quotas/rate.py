"""An amount per second, as a mean over the last seconds.

Source: classes Rate, SimpleRate and SampledStat, with quota.window.num 11 and
quota.window.size.seconds 1.
"""

from dataclasses import dataclass

from harness.base.ids import TimeMs

SAMPLES = 11
ENDLESS_MS = 2**63 - 1
_SAMPLE_MS = 1_000
_WINDOW_MS = SAMPLES * _SAMPLE_MS


@dataclass(slots=True)
class _Sample:
    begun_at: TimeMs
    last_at: TimeMs
    amount: float = 0


class Rate:
    """Samples of a second each. A young rate counts as if ten seconds had passed already."""

    __slots__ = ("_samples",)

    def __init__(self) -> None:
        self._samples: list[_Sample] = []

    def record(self, amount: float, now: TimeMs) -> None:
        """Record an amount that has passed; a negative amount takes a former one back."""
        self._forget(now)
        if not self._samples or now - self._samples[-1].begun_at >= _SAMPLE_MS:
            self._samples.append(_Sample(now, now))
        self._samples[-1].amount += amount
        self._samples[-1].last_at = now

    def throttle_ms(self, limit_per_s: float, now: TimeMs) -> int:
        """Return the pause in ms until the rate is at its limit again; 0 if it is not above.

        Above a limit of 0 the pause is endless.

        Source: class QuotaUtils (throttleTime).
        """
        self._forget(now)
        window_ms = self._window_ms(now)
        rate = sum(sample.amount for sample in self._samples) * 1_000 / window_ms
        if limit_per_s == 0:
            return ENDLESS_MS if rate > 0 else 0
        return max(0, round((rate - limit_per_s) / limit_per_s * window_ms))

    def is_over(self, now: TimeMs) -> bool:
        """True if no sample counts any more, so that a new rate gives the same results."""
        self._forget(now)
        return not self._samples

    def _window_ms(self, now: TimeMs) -> int:
        elapsed_ms = now - self._samples[0].begun_at if self._samples else 0
        missing = max(0, SAMPLES - 1 - elapsed_ms // _SAMPLE_MS)
        return elapsed_ms + missing * _SAMPLE_MS

    def _forget(self, now: TimeMs) -> None:
        self._samples = [one for one in self._samples if now - one.last_at < _WINDOW_MS]


class SimpleRate(Rate):
    """A young rate counts as if one second had passed already (replication quotas)."""

    __slots__ = ()

    def _window_ms(self, now: TimeMs) -> int:
        begun_at = self._samples[0].begun_at if self._samples else now
        return max(now - begun_at, _SAMPLE_MS)
