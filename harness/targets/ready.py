"""The readiness of a broker, found out by requests.

A port that accepts proves nothing: a relay or a published port accepts with nothing behind it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from harness.base.address import Address
from harness.targets.asking import ask_api_versions, ask_cluster
from harness.targets.errors import TargetStartError
from harness.targets.not_answered import AnsweredWrong, NotAnswered, Silence
from harness.targets.process import Deadline
from harness.targets.wrong_answer import BROKERS, WrongAnswer

ATTEMPT_TIMEOUT_MS = 5_000
PAUSE_S = 0.02

Question = Callable[[int], object]
"""Takes a deadline in milliseconds; raises NotAnswered when it should be asked again."""


def wait_until_ready(
    address: Address,
    timeout_ms: int,
    check: Callable[[], None],
    *,
    cluster_id: str | None = None,
) -> None:
    """Ask until ApiVersions is answered and then Metadata shows a live broker.

    With ``cluster_id`` the broker must be of that cluster: another may have taken the port.

    ``check`` is called between the attempts and raises when waiting has become senseless (the
    process has ended, say). Raises TargetStartError at the deadline with the last reason.
    """
    questions: list[Question] = [
        lambda wait_ms: ask_api_versions(address, wait_ms),
        lambda wait_ms: _metadata(address, wait_ms, cluster_id),
    ]
    await_answers(address, questions, timeout_ms, check)


def await_answers(
    address: Address, questions: Sequence[Question], timeout_ms: int, check: Callable[[], None]
) -> None:
    """Ask each question until it is answered, one after the other; otherwise as above."""
    deadline = Deadline(timeout_ms)
    left = list(questions)
    last = NotAnswered(f"no answer within {timeout_ms} ms")
    while left:
        check()
        left_ms = deadline.left_ms()
        if not left_ms:
            raise TargetStartError(
                f"{address} does not answer as a Kafka broker within {timeout_ms} ms: {last}"
            ) from last
        try:
            left[0](min(left_ms, ATTEMPT_TIMEOUT_MS))
            left.pop(0)
        except NotAnswered as problem:
            if left_ms >= ATTEMPT_TIMEOUT_MS or not isinstance(problem, Silence):
                last = problem  # an attempt that the deadline cuts short has no reason of its own
            time.sleep(PAUSE_S)


def _metadata(address: Address, timeout_ms: int, cluster_id: str | None) -> None:
    cluster = ask_cluster(address, timeout_ms)
    if not cluster.brokers:
        raise AnsweredWrong(WrongAnswer(BROKERS, "Metadata shows no live broker"), "")
    if cluster_id is not None and cluster.cluster_id != cluster_id:
        raise NotAnswered(
            f"the broker there is of cluster {cluster.cluster_id}, not of ours, {cluster_id}"
        )
