"""Whether a broker answers, found out by asking it.

A port that accepts is no answer: a relay or a published port accepts with nothing behind it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.targets.errors import TargetStartError
from harness.targets.process import Deadline
from harness.targets.target import Address
from harness.targets.wire import NotAnswered, ask_api_versions, ask_live_brokers

ATTEMPT_TIMEOUT_MS = 5_000
PAUSE_S = 0.02


def wait_until_ready(
    address: Address,
    timeout_ms: int,
    check: Callable[[], None],
    *,
    live_brokers: int = 1,
) -> None:
    """Ask until ApiVersions is answered and then Metadata shows ``live_brokers`` brokers.

    ``check`` is called between the attempts and raises when waiting has become senseless (the
    process has ended, say). Raises TargetStartError at the deadline with the last reason.
    """
    deadline = Deadline(timeout_ms)
    questions: list[Callable[[int], None]] = [
        lambda wait_ms: _api_versions(address, wait_ms),
        lambda wait_ms: _metadata(address, wait_ms, live_brokers),
    ]
    reason = "it was not asked"
    while questions:
        check()
        left_ms = deadline.left_ms()
        if not left_ms:
            raise TargetStartError(
                f"{address} does not answer as a Kafka broker within {timeout_ms} ms: {reason}"
            )
        try:
            questions[0](min(left_ms, ATTEMPT_TIMEOUT_MS))
            questions.pop(0)
        except NotAnswered as problem:
            reason = str(problem)
            time.sleep(PAUSE_S)


def _api_versions(address: Address, timeout_ms: int) -> None:
    ask_api_versions(address, timeout_ms)


def _metadata(address: Address, timeout_ms: int, live_brokers: int) -> None:
    count = ask_live_brokers(address, timeout_ms)
    if count < live_brokers:
        raise NotAnswered(f"Metadata shows {count} brokers, {live_brokers} are expected")
