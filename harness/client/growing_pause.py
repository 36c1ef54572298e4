"""Pauses between two requests for a state that is awaited."""

import time

SHORTEST_MS, LONGEST_MS = 10, 250
_SHARE = 0.1


class GrowingPause:
    """A pause that is a tenth of the time waited so far, within limits.

    A state that comes soon is seen at once; a long wait costs the broker few requests.
    """

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def sleep(self) -> None:
        """Sleep for as long as the time since the beginning demands."""
        waited_ms = (time.monotonic() - self._began_s) * 1000
        time.sleep(min(max(_SHARE * waited_ms, SHORTEST_MS), LONGEST_MS) / 1000)
