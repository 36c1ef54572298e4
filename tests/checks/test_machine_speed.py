"""The line that gives the speed of the machine."""

from __future__ import annotations

from checks.machine_speed import additions_cpu_ms, speed_line


def test_the_loop_takes_processor_time() -> None:
    assert additions_cpu_ms() > 0


def test_the_line_names_each_moment() -> None:
    line = speed_line({"at the start": 310, "at the end": 905})
    assert line == (
        "speed of the machine: 5,000,000 additions take 310 ms at the start, 905 ms at the end"
    )
