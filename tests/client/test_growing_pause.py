"""The pause grows with the time waited and keeps within its limits."""

import pytest

from harness.client.growing_pause import LONGEST_MS, SHORTEST_MS, GrowingPause


@pytest.mark.parametrize(
    ("waited_ms", "pause_ms"),
    [(0, SHORTEST_MS), (100, SHORTEST_MS), (500, 50), (2500, LONGEST_MS), (60_000, LONGEST_MS)],
)
def test_pause_is_tenth_of_waited_time_within_limits(
    monkeypatch: pytest.MonkeyPatch, waited_ms: int, pause_ms: int
) -> None:
    now_s, slept_s = [7.0], list[float]()
    monkeypatch.setattr("harness.client.growing_pause.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr("harness.client.growing_pause.time.sleep", slept_s.append)
    pause = GrowingPause()
    now_s[0] += waited_ms / 1000
    pause.sleep()
    assert slept_s == [pytest.approx(pause_ms / 1000)]
