"""Conclusions from all answers about a cluster together: planted anomalies, and none."""

from __future__ import annotations

from typing import Any

import pytest

from harness.histories.cluster import check_cluster
from harness.histories.replication import Observation, Violation


def seen(node: int = 1, client: str = "a", partition: str = "t-0", **told: Any) -> Observation:
    return Observation("it", node=node, client=client, partition=partition, **told)


def led(epoch: int, leader: int = 1, node: int = 1, **told: Any) -> Observation:
    given = {"isr": (1, 2), "replicas": (1, 2, 3), **told}
    return seen(node, leader=leader, leader_epoch=epoch, **given)


def found(*every: Observation) -> list[Violation]:
    return [finding.broken for finding in check_cluster(every)]


def test_empty_history_has_no_violation() -> None:
    assert found() == []


def test_sound_observations_have_no_violation() -> None:
    assert not found(
        led(0),
        seen(high_watermark=3, last_stable_offset=3, log_start_offset=0, read_to=3),
        led(0),
        led(1, leader=2),
        led(1, leader=2, node=2, client="b"),
        seen(2, "b", high_watermark=1),
    )


@pytest.mark.parametrize(
    ("every", "broken"),
    [
        ([led(4), led(4, leader=2, node=2, client="b")], Violation.TWO_LEADERS),
        ([led(4), led(3)], Violation.EPOCH_FELL),
        ([led(0, isr=(2, 3))], Violation.ISR_WITHOUT_LEADER),
        ([led(0, isr=(1, 4))], Violation.ISR_OF_STRANGERS),
        (
            [led(0), seen(high_watermark=3, read_to=4), seen(high_watermark=3), led(0)],
            Violation.WATERMARK_FELL,
        ),
        (
            [led(0), seen(high_watermark=3, last_stable_offset=4), seen(high_watermark=3), led(0)],
            Violation.WATERMARK_FELL,
        ),
        (
            [led(0), seen(high_watermark=3), seen(high_watermark=2), led(0)],
            Violation.WATERMARK_FELL,
        ),
    ],
)
def test_planted_anomaly_gives_its_violation(every: list[Observation], broken: Violation) -> None:
    assert found(*every) == [broken]


@pytest.mark.parametrize(
    "every",
    [
        pytest.param([led(4), led(3, client="b")], id="another client may receive an older answer"),
        pytest.param([led(4), led(3, partition="t-1")], id="another partition"),
        pytest.param([led(4), led(5, leader=2)], id="the next epoch has the next leader"),
        pytest.param([led(4), led(4, leader=-1, isr=())], id="nobody is no second leader"),
        pytest.param(
            [led(0), seen(high_watermark=3, read_to=4), seen(high_watermark=4), led(0)],
            id="the high watermark was looked up before the read",
        ),
        pytest.param([led(0, leader=-1, isr=(2,))], id="nobody leads"),
        pytest.param(
            [led(0), seen(high_watermark=3), seen(high_watermark=2)],
            id="who may have been deposed meanwhile",
        ),
        pytest.param(
            [led(0), seen(high_watermark=3), seen(high_watermark=2), led(1)],
            id="it fell between two epochs",
        ),
        pytest.param(
            [led(0, leader=2), seen(high_watermark=3), seen(high_watermark=2), led(0, leader=2)],
            id="a follower",
        ),
    ],
)
def test_legal_observations_give_no_violation(every: list[Observation]) -> None:
    assert found(*every) == []


def test_long_history_gives_all_planted_violations() -> None:
    every = [led(0), *(seen(high_watermark=offset) for offset in range(10_000)), led(0)]
    every += [seen(high_watermark=5), led(0), led(0, leader=3, isr=(3,))]
    assert found(*every) == [Violation.WATERMARK_FELL, Violation.TWO_LEADERS]
