"""Times that a broker's configs say in hours or minutes, for topics that have them in milliseconds.

Source: class KafkaConfig (logRetentionTimeMillis, logRollTimeMillis, logRollTimeJitterMillis).
"""

from collections.abc import Mapping

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS

# The name of each larger unit, its name in milliseconds and its length; smaller units come first.
_LARGER_UNITS = (
    ("log.retention.minutes", "log.retention.ms", _MINUTE_MS),
    ("log.retention.hours", "log.retention.ms", _HOUR_MS),
    ("log.roll.hours", "log.roll.ms", _HOUR_MS),
    ("log.roll.jitter.hours", "log.roll.jitter.ms", _HOUR_MS),
)
LARGER_UNITS = frozenset(name for name, *_ in _LARGER_UNITS)


def in_milliseconds(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values with each time in milliseconds: the smallest unit that is given counts.

    Raises ValueError for a larger unit that is no number.
    """
    found = dict(values)
    for name, in_ms, length_ms in _LARGER_UNITS:
        if name in values and in_ms not in found:
            found[in_ms] = str(int(values[name]) * length_ms)
    return found
