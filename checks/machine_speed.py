"""The speed of the machine during a run: with it, the times of two runs can be compared.

A virtual processor is up to three times slower while its neighbours on the same hardware work; the
kernel counts that time as processor time of the program.
"""

from __future__ import annotations

import time

ADDITIONS = 5_000_000


def additions_cpu_ms() -> int:
    """The processor time that a fixed loop takes now, in milliseconds."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return round((time.process_time() - began) * 1000)


def speed_line(cpu_ms: dict[str, int]) -> str:
    """One line of ``{"at the start": 310, ...}``."""
    moments = ", ".join(f"{ms} ms {moment}" for moment, ms in cpu_ms.items())
    return f"speed of the machine: {ADDITIONS:,} additions take {moments}"
